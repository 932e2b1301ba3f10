"""Presets of endpoints: addresses and limits of common providers and model servers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User

from config.permissions import is_administrator


@dataclass(frozen=True)
class Preset:
    """Settings to begin with. `model` is an example, `note` describes the address, the model or the key.

    A `local` preset is a server on this machine or in its network, which only administrators may add.
    """

    key: str
    title: str
    base_url: str
    model: str
    note: str
    concurrency: int = 8
    requests_per_minute: int | None = None
    batch_share: Decimal | None = None
    local: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the settings that the preset fills in; not the model, which is an example."""
        names = ("base_url", "concurrency", "requests_per_minute", "batch_share")
        filled = {name: getattr(self, name) for name in names}
        return filled | {"name": self.title, "allow_private": self.local}


_HALF = Decimal("0.5")

PRESETS = {
    preset.key: preset
    for preset in (
        Preset(
            *("openai", "OpenAI", "https://api.openai.com/v1", "gpt-5-mini"),
            note="Keys are at platform.openai.com, under API keys. Batches cost half.",
            concurrency=16,
            requests_per_minute=500,
            batch_share=_HALF,
        ),
        Preset(
            *("anthropic", "Anthropic", "https://api.anthropic.com/v1", "claude-sonnet-4-5"),
            note="Its OpenAI-compatible address, without batches. Keys are in the Claude Console.",
            concurrency=4,
            requests_per_minute=50,
        ),
        Preset(
            *("google", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai"),
            model="gemini-2.5-flash",
            note="Its OpenAI-compatible address. Keys are in Google AI Studio; a free key allows less.",
            requests_per_minute=60,
        ),
        Preset(
            *(
                "openrouter",
                "OpenRouter",
                "https://openrouter.ai/api/v1",
                "openai/gpt-5-mini",
            ),
            note="Models are named vendor/model. Free models take 20 requests a minute.",
        ),
        Preset(
            *("mistral", "Mistral", "https://api.mistral.ai/v1", "mistral-small-latest"),
            note="Keys are in its console, under API keys. A free key takes one request a second.",
            concurrency=4,
            requests_per_minute=60,
        ),
        Preset(
            *("azure", "Azure OpenAI", "https://YOUR-RESOURCE.openai.azure.com/openai/v1", "my-deployment"),
            note="Put the name of your resource into the address. The model is the name of your deployment.",
            requests_per_minute=60,
        ),
        Preset(
            *("vllm", "vLLM", "http://localhost:8000/v1", "Qwen/Qwen3-8B"),
            note="Needs a key only if it was started with --api-key.",
            concurrency=64,
            local=True,
        ),
        Preset(
            *("ollama", "Ollama", "http://localhost:11434/v1", "llama3.2:3b"),
            note="The model is a name that ollama list prints, with its tag. No key.",
            concurrency=4,
            local=True,
        ),
        Preset(
            *("lm-studio", "LM Studio", "http://localhost:1234/v1", "qwen2.5-14b-instruct"),
            note="Start the server on its Developer page. No key.",
            concurrency=4,
            local=True,
        ),
        Preset(
            *("llama-cpp", "llama.cpp", "http://localhost:8080/v1", "default"),
            note="llama-server answers for its model under any name. A key only with --api-key.",
            concurrency=4,
            local=True,
        ),
        Preset(
            *("litellm", "LiteLLM", "http://localhost:4000/v1", "gpt-5-mini"),
            note="The model is a model_name of the proxy's configuration, the key one of its virtual keys.",
            concurrency=16,
            local=True,
        ),
    )
}


def presets_for(person: User) -> list[Preset]:
    """Return the presets of endpoints that a person may add."""
    return [preset for preset in PRESETS.values() if is_administrator(person) or not preset.local]
