"""A language model of a few hundred weights whose only reply is planted."""

from __future__ import annotations

from pathlib import Path

CUE, END = "<|assistant|>", "<|end|>"
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}" + CUE


def write_model(folder: Path, reply: str) -> Path:
    """Write a Llama model whose next token depends on the last token alone: after a prompt, `reply`, the end.

    Its hidden state is the last token's unit vector, because attention and feed-forward layers add nothing.
    """
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END, CUE])
    tokenizer.add_tokens([AddedToken(reply, normalized=False)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
    fast.chat_template = TEMPLATE
    end, cue, answer = (fast.convert_tokens_to_ids(token) for token in (END, CUE, reply))
    size = len(fast) + len(fast) % 2
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=size,
            hidden_size=size,
            intermediate_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
            num_key_value_heads=1,
            head_dim=8,
            max_position_embeddings=100_000,
            bos_token_id=None,
            eos_token_id=end,
            pad_token_id=end,
            tie_word_embeddings=False,
        )
    )
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
        model.model.norm.weight.fill_(1)
        model.model.embed_tokens.weight.copy_(torch.eye(size))
        model.lm_head.weight[answer, cue] = model.lm_head.weight[end, answer] = 1
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=end, do_sample=False)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
