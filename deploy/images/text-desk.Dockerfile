# The demo's provider: a node whose configuration opens the two capabilities of
# text-service. A volume on /data begins with this file.
FROM anet:local
COPY --chown=65532:65532 config.json /data/config.json
