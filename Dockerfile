# The page, the API and all verbs of the command line; docs/deploy.md says how to run it.
#
#   docker build --tag mathsetu .
#   docker run --rm --publish 127.0.0.1:8080:8080 mathsetu          # the built-in sampler
#   docker run --rm --publish 127.0.0.1:8080:8080 --volume ./my-library:/library:ro \
#       mathsetu serve /library --host 0.0.0.0
#
# More extras, for recipes that need them: --build-arg EXTRAS=web,mcp,neural

ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG EXTRAS=web,mcp
WORKDIR /source
COPY pyproject.toml constraints.txt hatch_build.py README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/mathsetu \
    && /opt/mathsetu/bin/pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]"

FROM python:${PYTHON}-slim
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
