# The image of a surehand worker. Build it from a checkout: docker build -t surehand .
# Everything is pinned; the images are Debian bookworm, whose bubblewrap (0.8) knows all that the sandbox profile asks for.

FROM node:20.19.5-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts/ scripts/
COPY src/ src/
# `dist` is a link to the build; the final image gets plain files.
RUN node scripts/build.mjs && cp -rL dist built

FROM node:20.19.5-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Temporal's core comes for five platforms; one is used.
RUN npm ci --omit=dev --ignore-scripts \
  && cd node_modules/@temporalio/core-bridge/releases \
  && case "$(uname -m)" in x86_64) keep=x86_64-unknown-linux-gnu ;; *) keep=aarch64-unknown-linux-gnu ;; esac \
  && test -d "$keep" && find . -mindepth 1 -maxdepth 1 ! -name "$keep" -exec rm -r {} +

FROM node:20.19.5-bookworm-slim
# What the agent's commands find is what is here: add a project's toolchain in an image FROM this one.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules/ node_modules/
COPY --from=build /app/built/ dist/
COPY package.json ./
COPY examples/ examples/
RUN printf '#!/bin/sh\nexec node /app/dist/client.js "$@"\n' > /usr/local/bin/surehand \
  && chmod 755 /usr/local/bin/surehand \
  && install -d -o node -g node -m 700 /state \
  && install -d -o node -g node /workspaces
# Leases of workspaces lie beside the state directory, and must outlive the container like it.
ENV NODE_ENV=production \
  SUREHAND_HOME=/state/surehand \
  XDG_STATE_HOME=/state/user \
  SUREHAND_HEALTH_PORT=8081
USER node
WORKDIR /workspaces
VOLUME /state
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SUREHAND_HEALTH_PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Commands of the agent outlive a worker on purpose, so somebody must reap them.
ENTRYPOINT ["tini", "--", "surehand"]
CMD ["worker"]
