# plugway in a container: docker build -t plugway . ; see README.md for running it.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
# The pinned toolchain and its WebAssembly target first: they change less often than the sources.
COPY rust-toolchain.toml .
RUN rustup toolchain install
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --locked -p plugway && cp target/release/plugway /usr/local/bin/plugway

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/plugway --create-home plugway
COPY --from=build /usr/local/bin/plugway /usr/local/bin/plugway
# The authorities of servers behind https; the slim image has none.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
USER 10001
WORKDIR /var/lib/plugway
EXPOSE 9000
# The process listens beyond loopback here, so it starts only when the mounted configuration (or
# `--accept-exposure REASON`) accepts that; otherwise it prints what is missing and exits.
# Alive is what `/health` says.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["plugway", "health"]
ENTRYPOINT ["/usr/local/bin/plugway"]
CMD ["serve", "/etc/plugway/plugway.yaml", "--listen", "0.0.0.0:9000"]
