# The example program behind a node. It runs as the node's user and shares the
# folder of its socket with it.
FROM scratch
COPY root /
COPY --chown=65532:65532 sockets /run
COPY text-service /text-service
USER 65532:65532
VOLUME /run/anet
STOPSIGNAL SIGTERM
ENTRYPOINT ["/text-service"]
CMD ["--socket", "/run/anet/text.sock"]
