/* The families of networks, a row each. */
#include "text/net/net.h"

#include <string.h>

/* source  PEFT, utils/constants.py */
#define QUERY_AND_VALUE                                                                                                \
    {                                                                                                                  \
        "*.q_proj.weight", "*.v_proj.weight"                                                                           \
    }

#define LLAMA_NAMES                                                                                                    \
    .words = "model.embed_tokens.weight", .layer = "model.layers.%d.", .before_attention = "input_layernorm",          \
    .before_mlp = "post_attention_layernorm", .query = "self_attn.q_proj", .key = "self_attn.k_proj",                  \
    .value = "self_attn.v_proj", .mixed = "self_attn.o_proj", .gate = "mlp.gate_proj", .up = "mlp.up_proj",            \
    .down = "mlp.down_proj", .last_norm = "model.norm", .head = "lm_head.weight", .adapted = QUERY_AND_VALUE

static const mw__family families[] = {
    {.name = "gpt2",
     .norm = MW__NET_LAYER_NORM,
     .words = "wte.weight",
     .places = "wpe.weight",
     .layer = "h.%d.",
     .before_attention = "ln_1",
     .before_mlp = "ln_2",
     .joined = "attn.c_attn",
     .mixed = "attn.c_proj",
     .up = "mlp.c_fc",
     .down = "mlp.c_proj",
     .last_norm = "ln_f",
     .head = "lm_head.weight",
     .adapted = {"*.c_attn.weight"},
     .every_bias = true,
     .inputs_first = true,
     .gelu = true},
    {.name = "llama", .norm = MW__NET_RMS_NORM, LLAMA_NAMES},
    {.name = "mistral", .norm = MW__NET_RMS_NORM, LLAMA_NAMES},
    {.name = "qwen2", .norm = MW__NET_RMS_NORM, LLAMA_NAMES, .attention_bias = true},
    {.name = "qwen3",
     .norm = MW__NET_RMS_NORM,
     LLAMA_NAMES,
     .query_norm = "self_attn.q_norm",
     .key_norm = "self_attn.k_norm"},
    {.name = "gemma2",
     .norm = MW__NET_RMS_NORM_FROM_ONE,
     .words = "model.embed_tokens.weight",
     .layer = "model.layers.%d.",
     .before_attention = "input_layernorm",
     .after_attention = "post_attention_layernorm",
     .before_mlp = "pre_feedforward_layernorm",
     .after_mlp = "post_feedforward_layernorm",
     .query = "self_attn.q_proj",
     .key = "self_attn.k_proj",
     .value = "self_attn.v_proj",
     .mixed = "self_attn.o_proj",
     .gate = "mlp.gate_proj",
     .up = "mlp.up_proj",
     .down = "mlp.down_proj",
     .last_norm = "model.norm",
     .head = "lm_head.weight",
     .adapted = QUERY_AND_VALUE,
     .gelu = true,
     .scales_words = true,
     .every_second_window = true},
};

const mw__family *mw__language_family(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}
