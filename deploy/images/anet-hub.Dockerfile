# The hub and nothing else. It keeps its state in the database it is given.
FROM scratch
COPY root /
COPY anet-hub /anet-hub
USER 65532:65532
ENV ANET_HUB_LISTEN=0.0.0.0:8088
EXPOSE 8088
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s CMD ["/anet-hub", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/anet-hub"]
CMD ["serve"]
