FROM rust:1.95-slim-bookworm AS build
WORKDIR /src

# Dependencies alone first: this layer is built again only when they change.
COPY Cargo.toml Cargo.lock ./
RUN mkdir src \
    && echo 'fn main() {}' > src/main.rs \
    && touch src/lib.rs \
    && cargo build --release --locked \
    && rm -r src

COPY . .
# Cargo goes by modification times, and those of the copied files may be older than the stand-ins'.
RUN touch src/main.rs src/lib.rs && SQLX_OFFLINE=true cargo build --release --locked

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /var/lib/folga --create-home folga
COPY --from=build /src/target/release/folga /usr/local/bin/folga
COPY folga.toml /etc/folga/folga.toml
USER folga
WORKDIR /var/lib/folga
ENV FOLGA_CONFIG=/etc/folga/folga.toml
EXPOSE 8080
ENTRYPOINT ["folga"]
CMD ["serve"]
