# The daemon alone: Redis and the service are reached over the network, the configuration is mounted at /etc/lenswatch.
# Everything it runs is given as a list, so that no shell is needed; it writes nothing, so the root may be read-only.
# The digest is that of the index of all platforms; `npm run renew-base` writes the one of today.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS base

FROM base AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    # What Node never reads: types, source maps, sources of what is compiled, documents.
    && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' -o -name '*.md' -o -name '*.flow' \) -delete \
    && find node_modules -type d -empty -delete

# Types are stripped here: Node would keep what strips them in memory, some 45 MB.
FROM base AS compiled
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY .ci ./.ci
COPY src ./src
RUN node .ci/build-package.ts

FROM base
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="lenswatch" \
      org.opencontainers.image.description="Watches the camera recordings of a retail video analytics service and notifies people when one goes offline and when it recovers." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Garbage takes less memory than with Node's defaults: tens of MB.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=16 \
    MALLOC_ARENA_MAX=1 \
    LENSWATCH_CONFIG=/etc/lenswatch/lenswatch.yaml \
    LENSWATCH_LISTEN=0.0.0.0:9595
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY --from=compiled /app/dist ./dist
USER node
EXPOSE 9595
# As long as the daemon takes to end by itself at most; `docker stop` gives it 10 s of its own accord.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["node", "dist/main.js", "healthz"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["run"]
