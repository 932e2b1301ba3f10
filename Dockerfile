# The production image: one image for web, workers and migrations; docker-compose.yml says who runs what.

FROM python:3.11-slim-bookworm AS build
# An index of PyTorch's CPU builds; without it the default build brings gigabytes of CUDA packages.
ARG TORCH_INDEX=""
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml requirements.lock ./
# What the product itself needs, in the versions of the lock; the tools for tests stay out of the image.
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
        > runtime.txt \
    && if [ -n "$TORCH_INDEX" ]; then pip install --index-url "$TORCH_INDEX" --no-deps "$(grep '^torch==' requirements.lock)"; fi \
    && pip install --requirement runtime.txt --constraint requirements.lock

FROM python:3.11-slim-bookworm
RUN groupadd --system --gid 10001 concord \
    && useradd --system --uid 10001 --gid concord --home-dir /var/lib/concord --shell /usr/sbin/nologin concord \
    && install --directory --owner concord --group concord --mode 0750 /var/lib/concord
COPY --from=build /opt/venv /opt/venv
COPY . /app
WORKDIR /app
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 CONCORD_HOME=/var/lib/concord PORT=8000
USER concord
VOLUME /var/lib/concord
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=10s --start-period=40s CMD ["python", "-m", "config.probe"]
CMD ["python", "-m", "config.web", "--host", "0.0.0.0", "--port", "8000"]
