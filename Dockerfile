# The production image: one image for web, workers and migrations; docker-compose.yml says who runs what.

# To be sure of the base image, give it by digest: python:3.11-slim-bookworm@sha256:...
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM $PYTHON_IMAGE AS build
# An index of PyTorch's CPU builds; without it the default build brings gigabytes of CUDA packages.
ARG TORCH_INDEX=""
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml requirements.lock requirements-cuda.lock ./
# Exactly the files whose hashes the locks name; the tools for tests stay out of the image.
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --index-url "$TORCH_INDEX" --no-deps "$(grep --only-matching '^torch==[0-9.]*' requirements.lock)"; \
    fi \
    && pip install --require-hashes --no-deps --requirement requirements.lock \
    && if pip show torch | grep --quiet '^Version:.*+cpu'; then :; \
       else pip install --require-hashes --no-deps --requirement requirements-cuda.lock; fi \
    && python -c "import re, tomllib; print(*(re.split('[=[]', line)[0] for line in tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev']))" \
        | xargs pip uninstall --yes

FROM $PYTHON_IMAGE
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
