# What breaks the demo network on purpose. It needs the engine's socket.
FROM scratch
COPY faults /faults
ENTRYPOINT ["/faults"]
CMD ["all"]
