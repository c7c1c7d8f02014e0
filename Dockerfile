# The daemon, its configuration mounted at /etc/lenswatch, Redis and the service reached over the network.
FROM node:26-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:26-bookworm-slim
ENV NODE_ENV=production LENSWATCH_CONFIG=/etc/lenswatch/lenswatch.yaml
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY src ./src
USER node
EXPOSE 9595
ENTRYPOINT ["node", "src/main.ts"]
CMD ["run"]
