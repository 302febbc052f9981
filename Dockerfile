# The page, the API and all verbs of the command line; docs/deploy.md says how to run it.
#
#   docker build --tag mathsetu .
#   docker run --rm --publish 127.0.0.1:8080:8080 mathsetu          # the built-in sampler
#   docker run --rm --publish 127.0.0.1:8080:8080 --volume ./my-library:/library:ro \
#       mathsetu serve /library --host 0.0.0.0
#
# More extras, for recipes that need them: --build-arg EXTRAS=web,mcp,neural

# Without a digest the tag names another image every few weeks; 'make image-digests' writes that of
# today (docs/deploy.md).
ARG PYTHON_IMAGE=python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea

FROM ${PYTHON_IMAGE} AS build
ARG EXTRAS=web,mcp
ENV PIP_NO_CACHE_DIR=1
WORKDIR /source
# It makes the inner loops of search; only what it made goes into the image.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
# Every package is checked against its hash, and the wheel is built by a locked hatchling.
COPY requirements ./requirements
RUN python -m venv /opt/build && requirements/install /opt/build build \
    && python -m venv /opt/mathsetu \
    && requirements/install /opt/mathsetu core $(echo "${EXTRAS}" | tr , ' ')
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src ./src
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /opt/mathsetu/bin/pip install --no-deps --no-index /wheels/*.whl

FROM ${PYTHON_IMAGE}
COPY --from=build /opt/mathsetu /opt/mathsetu
# The port is set here and not by --port, so that the health check knows it too.
ENV PATH=/opt/mathsetu/bin:$PATH PYTHONUNBUFFERED=1 MATHSETU_PORT=8080
# Nobody in particular: a server only reads its library, and writes into /tmp.
RUN mkdir /library && chown 65532:65532 /library
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"MATHSETU_PORT\"]}/v1/health', timeout=4)"]
# Exec form, so that the server gets the signal to stop and answers what it has begun.
ENTRYPOINT ["mathsetu"]
CMD ["serve", "--host", "0.0.0.0"]
