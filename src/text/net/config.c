/* config.json. */
#include "base/file/file.h"
#include "base/text/error.h"
#include "base/text/string.h"
#include "text/json/tree.h"
#include "text/net/net.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

mw_text_config mw_text_config_defaults(const char *family)
{
    const mw__family *row = mw__language_family(family);
    mw_text_config c = {.struct_size = sizeof(mw_text_config), .rope_theta = 10000.0, .rope_factor = 1.0};
    if (row == NULL)
        return c;
    c.family = row->name;
    c.positions = row->positions;
    c.norm_epsilon = row->epsilon;
    c.tied = row->tied;
    c.types = row->types != NULL ? 2 : 0;
    return c;
}

/* ---- numbers ---- */

/* A count by one of two names; what is there must be one. `otherwise` < 0: it has to be there. */
static mw_status read_count(const mw__json_node *root, const char *name, const char *other, int64_t otherwise,
                            int64_t *out, mw_error *err)
{
    const mw__json_node *node = mw__tree_find(root, name);
    if (node == NULL && other != NULL)
        node = mw__tree_find(root, other);
    if (node == NULL || node->kind == MW__JSON_IS_NULL) {
        *out = otherwise;
        return otherwise >= 0 ? MW_OK : mw__fail(err, MW_ERROR_FORMAT, "config.json has no \"%s\"", name);
    }
    const double value = node->number;
    if (node->kind != MW__JSON_IS_NUMBER || !(value >= 1.0 && value <= 1e9) || value != (double)(int64_t)value)
        return mw__fail(err, MW_ERROR_FORMAT, "config.json: \"%s\" is no count from 1 to 1000000000", name);
    *out = (int64_t)value;
    return MW_OK;
}

static mw_status read_positive(const mw__json_node *root, const char *name, double otherwise, double *out,
                               mw_error *err)
{
    *out = mw__tree_number(root, name, otherwise);
    if (*out == otherwise || (*out > 0.0 && *out < 1e12))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "config.json: \"%s\" is %g", name, *out);
}

static mw_status read_sizes(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    MW_TRY(read_count(root, "num_hidden_layers", "n_layer", -1, &c->layers, err));
    MW_TRY(read_count(root, "hidden_size", "n_embd", -1, &c->width, err));
    MW_TRY(read_count(root, "num_attention_heads", "n_head", -1, &c->heads, err));
    MW_TRY(read_count(root, "num_key_value_heads", NULL, c->heads, &c->kv_heads, err));
    MW_TRY(read_count(root, "head_dim", NULL, c->width / c->heads, &c->head_width, err));
    MW_TRY(read_count(root, "intermediate_size", "n_inner", 4 * c->width, &c->hidden, err));
    MW_TRY(read_count(root, "vocab_size", NULL, -1, &c->words, err));
    return read_count(root, "max_position_embeddings", "n_positions", c->positions, &c->positions, err);
}

/* ---- positions ---- */

/* Newer files have the base of positions in the same object, and call it rope_parameters. */
static const mw__json_node *scaling_of(const mw__json_node *root)
{
    const mw__json_node *scaling = mw__tree_find(root, "rope_scaling");
    if (!mw__tree_is(scaling, MW__JSON_IS_OBJECT))
        scaling = mw__tree_find(root, "rope_parameters");
    return mw__tree_is(scaling, MW__JSON_IS_OBJECT) ? scaling : NULL;
}

static mw_status read_scaling(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    const mw__json_node *scaling = scaling_of(root);
    if (mw__tree_bool(root, "rope_interleaved", false))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "config.json: rope_interleaved true; folders turn channels k and k + half of a head together");
    if (scaling == NULL)
        return MW_OK;
    MW_TRY(read_positive(scaling, "rope_theta", c->rope_theta, &c->rope_theta, err));
    const char *type = mw__tree_text(scaling, "rope_type");
    type = type != NULL ? type : mw__tree_text(scaling, "type");
    if (type != NULL && strcmp(type, "default") == 0)
        return MW_OK;
    if (type == NULL || strcmp(type, "llama3") != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "config.json: positions are scaled by \"%.40s\"; llama3 is known",
                        type != NULL ? type : "");
    MW_TRY(read_positive(scaling, "factor", 8.0, &c->rope_factor, err));
    MW_TRY(read_positive(scaling, "low_freq_factor", 1.0, &c->rope_low, err));
    MW_TRY(read_positive(scaling, "high_freq_factor", 4.0, &c->rope_high, err));
    MW_TRY(read_positive(scaling, "original_max_position_embeddings", 8192.0, &c->rope_original, err));
    if (c->rope_high <= c->rope_low)
        return mw__fail(err, MW_ERROR_FORMAT, "config.json: high_freq_factor %g is not above low_freq_factor %g",
                        c->rope_high, c->rope_low);
    return MW_OK;
}

/* ---- what is not built ---- */

static mw_status check_activation(const mw__json_node *root, const mw__family *f, mw_error *err)
{
    const char *name = mw__tree_text(root, "hidden_activation");
    name = name != NULL ? name : mw__tree_text(root, "hidden_act");
    name = name != NULL ? name : mw__tree_text(root, "activation_function");
    static const char *const names[][2] = {[MW__NET_SILU] = {"silu", "swish"},
                                           [MW__NET_GELU] = {"gelu", "gelu_python"},
                                           [MW__NET_GELU_TANH] = {"gelu_pytorch_tanh", "gelu_new"}};
    const char *const *own = names[f->activation];
    if (name == NULL || strcmp(name, own[0]) == 0 || strcmp(name, own[1]) == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "config.json: the activation \"%.40s\"; that of %s is %s", name, f->name,
                    own[0]);
}

static mw_status check_biases(const mw__json_node *root, const mw__family *f, mw_error *err)
{
    const bool attention = mw__tree_bool(root, "attention_bias", f->attention_bias);
    const bool mlp = mw__tree_bool(root, "mlp_bias", false);
    if (attention == f->attention_bias && !mlp)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "config.json: attention_bias %s, mlp_bias %s, which %s is not built with",
                    attention ? "true" : "false", mlp ? "true" : "false", f->name);
}

static mw_status read_family(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    const char *type = mw__tree_text(root, "model_type");
    *c = mw_text_config_defaults(type);
    if (c->family != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "config.json: model_type \"%.40s\"; known are gpt2, llama, mistral, qwen2, qwen3, gemma2 and bert",
                    type != NULL ? type : "");
}

/* Qwen2 has a window in its files that is not used unless it says so. */
static mw_status read_window(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    if (mw__tree_bool(root, "use_sliding_window", true))
        return read_count(root, "sliding_window", NULL, 0, &c->window, err);
    return MW_OK;
}

/* ---- encoders ---- */

static bool is_architecture(const mw__json_node *root, const char *ending)
{
    const mw__json_node *list = mw__tree_find(root, "architectures");
    const mw__json_node *first = mw__tree_is(list, MW__JSON_IS_ARRAY) ? list->first : NULL;
    return mw__tree_is(first, MW__JSON_IS_TEXT) && mw__string_ends(first->text, ending);
}

/* Which ends a folder has is said by its weights, where they are there (mw__pretrained_take_ends); here by the class.
 */
static mw_status read_encoder(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    const char *places = mw__tree_text(root, "position_embedding_type");
    MW_TRY(read_count(root, "type_vocab_size", NULL, c->types, &c->types, err));
    if (places != NULL && strcmp(places, "absolute") != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "config.json: position_embedding_type \"%.40s\"; absolute is known",
                        places);
    if (mw__tree_bool(root, "is_decoder", false) || mw__tree_bool(root, "add_cross_attention", false))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "config.json: is_decoder or add_cross_attention, with which %s is "
                        "not built",
                        c->family);
    c->word_head = is_architecture(root, "ForMaskedLM") || is_architecture(root, "ForPreTraining");
    c->pooler = is_architecture(root, "Model") || is_architecture(root, "ForPreTraining");
    return MW_OK;
}

static mw_status read_config(const mw__json_node *root, mw_text_config *c, mw_error *err)
{
    double epsilon = 0.0;
    MW_TRY(read_family(root, c, err));
    const mw__family *f = mw__language_family(c->family);
    MW_TRY(check_activation(root, f, err));
    MW_TRY(check_biases(root, f, err));
    MW_TRY(read_sizes(root, c, err));
    MW_TRY(read_positive(root, f->epsilon_key, (double)c->norm_epsilon, &epsilon, err));
    c->norm_epsilon = (float)epsilon;
    MW_TRY(read_positive(root, "rope_theta", c->rope_theta, &c->rope_theta, err));
    MW_TRY(read_scaling(root, c, err));
    MW_TRY(read_positive(root, "attn_logit_softcapping", 0.0, &c->score_softcap, err));
    MW_TRY(read_positive(root, "final_logit_softcapping", 0.0, &c->logit_softcap, err));
    MW_TRY(read_positive(root, "query_pre_attn_scalar", 0.0, &c->query_scale, err));
    MW_TRY(read_window(root, c, err));
    c->tied = mw__tree_bool(root, "tie_word_embeddings", c->tied);
    return f->encoder ? read_encoder(root, c, err) : MW_OK;
}

/* ---- the file ---- */

/* A configuration beyond this is none. */
enum { MOST_BYTES = 1 << 22 };

mw_status mw__language_config_read(const char *path, mw_text_config *out, mw_error *err)
{
    struct stat found;
    char file[4200], *text = NULL;
    size_t size = 0;
    const bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    const int length = snprintf(file, sizeof file, is_folder ? "%s/config.json" : "%s", path);
    if (length < 0 || (size_t)length >= sizeof file)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a configuration: the path is too long");
    mw__arena tree;
    mw__arena_init(&tree, mw__allocator_default());
    const mw__json_node *root = NULL;
    if (mw__file_read(mw__allocator_default(), file, MOST_BYTES, &text, &size, err) == MW_OK)
        root = mw__tree_read(&tree, text, size, err);
    if (root != NULL)
        read_config(root, out, err);
    mw__free(mw__allocator_default(), text);
    mw__arena_deinit(&tree);
    return err->status;
}
