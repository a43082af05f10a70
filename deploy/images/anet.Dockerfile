# A node and nothing else. /data is the node itself: identity, keys, tasks.
# /run/anet is for the sockets of the programs behind it.
FROM scratch
COPY root /
COPY --chown=65532:65532 home /
COPY --chown=65532:65532 sockets /run
COPY anet /anet
USER 65532:65532
ENV ANET_DATA_DIR=/data
VOLUME /data
STOPSIGNAL SIGTERM
ENTRYPOINT ["/anet"]
CMD ["up"]
