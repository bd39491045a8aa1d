/* Writes config.json as the families' own files have it. */
#include "base/number/number.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "text/pretrained/pretrained.h"

#include <string.h>

static void put_count(mw__text *out, const char *key, int64_t value)
{
    mw__text_printf(out, ",\n  \"%s\": %lld", key, (long long)value);
}

static void put_number(mw__text *out, const char *key, double value)
{
    char text[MW__NUMBER_MAX];
    mw__number_print_double(text, value);
    mw__text_printf(out, ",\n  \"%s\": %s", key, text);
}

static void put_float(mw__text *out, const char *key, float value)
{
    char text[MW__NUMBER_MAX];
    mw__number_print_float(text, value);
    mw__text_printf(out, ",\n  \"%s\": %s", key, text);
}

static void put_string(mw__text *out, const char *key, const char *value)
{
    mw__text_printf(out, ",\n  \"%s\": \"%s\"", key, value);
}

static void put_gpt2(mw__text *out, const mw_text_config *c)
{
    put_count(out, "n_embd", c->width);
    put_count(out, "n_layer", c->layers);
    put_count(out, "n_head", c->heads);
    put_count(out, "n_positions", c->positions);
    if (c->hidden != 4 * c->width)
        put_count(out, "n_inner", c->hidden);
    put_float(out, "layer_norm_epsilon", c->norm_epsilon);
    put_string(out, "activation_function", "gelu_new");
}

static void put_rope(mw__text *out, const mw_text_config *c)
{
    put_number(out, "rope_theta", c->rope_theta);
    if (c->rope_factor == 1.0)
        return;
    mw__text_puts(out, ",\n  \"rope_scaling\": {\n  \"rope_type\": \"llama3\"");
    put_number(out, "factor", c->rope_factor);
    put_number(out, "low_freq_factor", c->rope_low);
    put_number(out, "high_freq_factor", c->rope_high);
    put_number(out, "original_max_position_embeddings", c->rope_original);
    mw__text_puts(out, "\n  }");
}

static void put_gemma(mw__text *out, const mw_text_config *c)
{
    put_string(out, "hidden_activation", "gelu_pytorch_tanh");
    put_number(out, "attn_logit_softcapping", c->score_softcap);
    put_number(out, "final_logit_softcapping", c->logit_softcap);
    put_number(out, "query_pre_attn_scalar", c->query_scale > 0.0 ? c->query_scale : (double)c->head_width);
}

static void put_bert(mw__text *out, const mw_text_config *c)
{
    put_count(out, "hidden_size", c->width);
    put_count(out, "num_hidden_layers", c->layers);
    put_count(out, "num_attention_heads", c->heads);
    put_count(out, "intermediate_size", c->hidden);
    put_count(out, "max_position_embeddings", c->positions);
    put_count(out, "type_vocab_size", c->types);
    put_float(out, "layer_norm_eps", c->norm_epsilon);
    put_string(out, "hidden_act", "gelu");
    put_string(out, "position_embedding_type", "absolute");
}

static void put_llama(mw__text *out, const mw_text_config *c)
{
    put_count(out, "hidden_size", c->width);
    put_count(out, "num_hidden_layers", c->layers);
    put_count(out, "num_attention_heads", c->heads);
    put_count(out, "num_key_value_heads", c->kv_heads);
    put_count(out, "head_dim", c->head_width);
    put_count(out, "intermediate_size", c->hidden);
    put_count(out, "max_position_embeddings", c->positions);
    put_float(out, "rms_norm_eps", c->norm_epsilon);
    put_rope(out, c);
    put_string(out, "hidden_act",
               mw__language_family(c->family)->activation == MW__NET_GELU_TANH ? "gelu_pytorch_tanh" : "silu");
    if (strcmp(c->family, "gemma2") == 0)
        put_gemma(out, c);
    if (c->window > 0)
        put_count(out, "sliding_window", c->window);
    if (mw__string_begins(c->family, "qwen"))
        mw__text_printf(out, ",\n  \"use_sliding_window\": %s", c->window > 0 ? "true" : "false");
}

static const char *class_of(const mw_text_config *c)
{
    static const char *const classes[][2] = {{"gpt2", "GPT2LMHeadModel"},       {"llama", "LlamaForCausalLM"},
                                             {"mistral", "MistralForCausalLM"}, {"qwen2", "Qwen2ForCausalLM"},
                                             {"qwen3", "Qwen3ForCausalLM"},     {"gemma2", "Gemma2ForCausalLM"}};
    if (strcmp(c->family, "bert") == 0)
        return c->word_head ? "BertForMaskedLM" : "BertModel";
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i][0], c->family) == 0)
            return classes[i][1];
    return "";
}

void mw__pretrained_put_config(const mw_text_config *c, mw_dtype dtype, mw__text *out)
{
    mw__text_printf(out, "{\n  \"architectures\": [\"%s\"]", class_of(c));
    put_string(out, "model_type", c->family);
    put_count(out, "vocab_size", c->words);
    if (strcmp(c->family, "gpt2") == 0)
        put_gpt2(out, c);
    else if (strcmp(c->family, "bert") == 0)
        put_bert(out, c);
    else
        put_llama(out, c);
    mw__text_printf(out, ",\n  \"tie_word_embeddings\": %s", c->tied ? "true" : "false");
    put_string(out, "torch_dtype", dtype == MW_F16 ? "float16" : dtype == MW_BF16 ? "bfloat16" : "float32");
    mw__text_puts(out, "\n}\n");
}
