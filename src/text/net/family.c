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

#define LLAMA_NORMS .norm = MW__NET_RMS_NORM, .positions = 2048, .epsilon = 1e-6F, .epsilon_key = "rms_norm_eps"

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
     .activation = MW__NET_GELU_TANH,
     .tied = true,
     .positions = 1024,
     .epsilon = 1e-5F,
     .epsilon_key = "layer_norm_epsilon"},
    {.name = "llama", LLAMA_NORMS, LLAMA_NAMES},
    {.name = "mistral", LLAMA_NORMS, LLAMA_NAMES},
    {.name = "qwen2", LLAMA_NORMS, LLAMA_NAMES, .attention_bias = true},
    {.name = "qwen3", LLAMA_NORMS, LLAMA_NAMES, .query_norm = "self_attn.q_norm", .key_norm = "self_attn.k_norm"},
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
     .activation = MW__NET_GELU_TANH,
     .scales_words = true,
     .every_second_window = true,
     .tied = true,
     .positions = 2048,
     .epsilon = 1e-6F,
     .epsilon_key = "rms_norm_eps"},
    {.name = "bert",
     .norm = MW__NET_LAYER_NORM,
     .activation = MW__NET_GELU,
     .words = "embeddings.word_embeddings.weight",
     .places = "embeddings.position_embeddings.weight",
     .types = "embeddings.token_type_embeddings.weight",
     .words_norm = "embeddings.LayerNorm",
     .layer = "encoder.layer.%d.",
     .query = "attention.self.query",
     .key = "attention.self.key",
     .value = "attention.self.value",
     .mixed = "attention.output.dense",
     .after_attention = "attention.output.LayerNorm",
     .up = "intermediate.dense",
     .down = "output.dense",
     .after_mlp = "output.LayerNorm",
     .pooler = "pooler.dense",
     .head_product = "cls.predictions.transform.dense",
     .head_norm = "cls.predictions.transform.LayerNorm",
     .head = "cls.predictions.decoder.weight",
     .head_bias = "cls.predictions.bias",
     .adapted = {"*.query.weight", "*.value.weight"},
     .attention_bias = true,
     .every_bias = true,
     .encoder = true,
     .sums_normed = true,
     .tied = true,
     .positions = 512,
     .epsilon = 1e-12F,
     .epsilon_key = "layer_norm_eps"},
};

const mw__family *mw__language_family(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}
