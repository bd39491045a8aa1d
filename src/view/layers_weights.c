/* The weights behind each operation, and what their names say of the layer that they belong to. */
#include "base/text/string.h"
#include "view/layers.h"

#include "graph/ir/ir.h"

#include <string.h>

/* ---- names ---- */

/* The length without an ending such as "_12". */
static size_t without_number(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && mw__character_is_digit(name[at - 1]))
        at--;
    return at > 0 && at < length && (name[at - 1] == '_' || name[at - 1] == '.' || name[at - 1] == ':') ? at - 1
                                                                                                        : length;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t own = strlen(end);
    return length >= own && memcmp(name + length - own, end, own) == 0;
}

/* What converters append to the name of a weight. */
static size_t without_conversion(const char *name, size_t length)
{
    static const char *const ends[] = {"_to_fp16",    "_to_fp32", "_palettized", "_quantized",
                                       "_sparsified", "_cast",    "_fp16",       "_zp"};
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < sizeof ends / sizeof *ends && !found; i++) {
            found = ends_with(name, length, ends[i]);
            length -= found ? strlen(ends[i]) : 0;
        }
    }
    return length;
}

/* Parts of layers, as PyTorch, Keras and ONNX call them. */
static size_t without_part(const char *name, size_t length)
{
    static const char *const parts[] = {"running_mean",
                                        "running_var",
                                        "moving_mean",
                                        "moving_variance",
                                        "moving_var",
                                        "input_mean",
                                        "input_var",
                                        "in_proj_weight",
                                        "in_proj_bias",
                                        "weight_ih",
                                        "weight_hh",
                                        "bias_ih",
                                        "bias_hh",
                                        "weight",
                                        "bias",
                                        "kernel",
                                        "gamma",
                                        "beta",
                                        "alpha",
                                        "mean",
                                        "variance",
                                        "recurrent_kernel",
                                        "embeddings",
                                        "scale",
                                        "W",
                                        "B",
                                        "R"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!ends_with(name, length, parts[i]))
            continue;
        const size_t left = length - strlen(parts[i]);
        if (left > 1 && (name[left - 1] == '.' || name[left - 1] == '_' || name[left - 1] == '/'))
            return left - 1;
    }
    return 0;
}

/* "lstm.weight_ih_l0_reverse" without the layer and the direction. */
static size_t without_layer(const char *name, size_t length)
{
    length -= ends_with(name, length, "_reverse") ? strlen("_reverse") : 0;
    size_t at = length;
    while (at > 0 && mw__character_is_digit(name[at - 1]))
        at--;
    return at > 2 && at < length && name[at - 1] == 'l' && name[at - 2] == '_' ? at - 2 : length;
}

/* Factors of an adapter belong to the layer that they adapt. */
static size_t without_adapter(const char *name, size_t length)
{
    static const char *const ends[] = {".lora_A", ".lora_B", "_lora_A", "_lora_B", ".base_layer"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, length, ends[i]) && length > strlen(ends[i]))
            return length - strlen(ends[i]);
    return length;
}

size_t mw__view_prefix_length(const char *name)
{
    size_t length = without_conversion(name, strlen(name));
    size_t left = without_part(name, without_layer(name, length));
    if (left == 0)
        left = without_part(name, without_number(name, length));
    return without_adapter(name, left);
}

/* ---- weights ---- */

static bool is_weight_type(const mw_tensor *value)
{
    const mw_dtype dtype = value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    return dtype == MW_F32 || dtype == MW_F16 || dtype == MW_I8 || dtype == MW_U8;
}

/* A resident, or a constant that is more than one number. */
static bool is_leaf(const mw_tensor *value)
{
    if (mw__is_resident(value))
        return true;
    return mw__is_constant(value) && is_weight_type(value) && value->type->shape.rank > 0 &&
           mw_shape_count(value->type->shape) > 1;
}

/* How many fixed operations are looked at behind one that is not: long chains of extents are no weights. */
enum { BEHIND_MAX = 96 };

typedef struct search {
    uint32_t stack[BEHIND_MAX], count, seen;
    const mw_tensor *met[BEHIND_MAX]; /* leaves that were told */
    size_t met_count;
} search;

static bool was_met(search *s, const mw_tensor *value)
{
    for (size_t i = 0; i < s->met_count; i++)
        if (s->met[i] == value)
            return true;
    if (s->met_count < BEHIND_MAX)
        s->met[s->met_count++] = value;
    return false;
}

static void look_at(mw__view *view, search *s, const mw_tensor *value, mw__view_weight_visit *visit, void *user)
{
    const uint32_t maker = view->producer[value->id];
    if (is_leaf(value)) {
        if (!was_met(s, value))
            visit(user, value);
    } else if (value->payload == NULL && maker != MW__VIEW_NONE && view->ops[maker].fixed &&
               view->marks[maker] != view->mark && s->seen < BEHIND_MAX) {
        view->marks[maker] = view->mark;
        s->stack[s->count++] = maker;
        s->seen++;
    }
}

/* Constants that stand in the blocks of the operation. */
static void visit_blocks(mw__view *view, search *s, const mw__op *op, mw__view_weight_visit *visit, void *user)
{
    for (size_t b = 0; b < op->block_count; b++) {
        for (size_t i = 0; i < op->blocks[b]->op_count; i++) {
            const mw__op *inner = op->blocks[b]->ops[i];
            for (size_t k = 0; k < inner->result_count; k++)
                if (is_leaf(inner->results[k]))
                    visit(user, inner->results[k]);
            visit_blocks(view, s, inner, visit, user);
        }
    }
}

void mw__view_visit_weights(mw__view *view, uint32_t op, mw__view_weight_visit *visit, void *user)
{
    search s = {.count = 1, .seen = 1};
    s.stack[0] = op;
    view->mark++;
    while (s.count > 0) {
        const mw__view_op *o = &view->ops[s.stack[--s.count]];
        if (strcmp(o->op->kind, "shape") == 0)
            continue;
        for (uint32_t k = 0; k < o->read_count; k++)
            look_at(view, &s, view->reads[o->first_read + k], visit, user);
    }
    visit_blocks(view, &s, view->ops[op].op, visit, user);
}

/* ---- prefixes ---- */

typedef struct naming {
    mw__view *view;
    mw__view_op *op;
    int64_t elements; /* of the weight whose name counts: the largest. A bias of zeros may be shared by many */
    mw__map *names;
    mw_error *err;
    bool failed;
} naming;

static const char *intern(naming *n, const char *name, size_t length)
{
    char *prefix = mw__map_get_n(n->names, name, length);
    if (prefix != NULL)
        return prefix;
    prefix = mw__arena_string(n->view->arena, name, length, n->err);
    n->failed = prefix == NULL || mw__map_set_n(n->names, name, length, prefix, n->err) != MW_OK;
    return prefix;
}

static void note_weight(void *user, const mw_tensor *weight)
{
    naming *n = user;
    n->op->weighted = true;
    n->op->recurrent = n->op->recurrent || (weight->name != NULL && strstr(weight->name, "weight_hh") != NULL);
    const size_t length = weight->name != NULL ? mw__view_prefix_length(weight->name) : 0;
    const int64_t elements = mw_shape_count(mw_tensor_shape(weight));
    if (length == 0 || n->failed || (n->op->prefix != NULL && elements <= n->elements))
        return;
    n->elements = elements;
    n->op->weight = weight;
    n->op->prefix = intern(n, weight->name, length);
}

mw_status mw__view_find_prefixes(mw__view *view, mw_error *err)
{
    mw__map names;
    mw__map_init(&names, view->graph->allocator);
    naming n = {.view = view, .names = &names, .err = err};
    for (uint32_t i = 0; i < view->op_count && !n.failed; i++) {
        n.op = &view->ops[i];
        if (!n.op->fixed && n.op->op->forward == NULL)
            mw__view_visit_weights(view, i, note_weight, &n);
    }
    mw__map_deinit(&names);
    return n.failed ? MW_ERROR_MEMORY : MW_OK;
}
