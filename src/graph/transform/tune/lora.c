/* Low-rank adapters: where a weight can have one, and its operations, as a branch beside the weight's use or added to
 * the weight. */
#include "graph/ir/copy.h"
#include "graph/ir/rule.h"
#include "graph/transform/tune/trainable.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static size_t strip(const char *name, size_t length, const char *suffix)
{
    const size_t cut = strlen(suffix);
    return length > cut && strncmp(name + length - cut, suffix, cut) == 0 ? length - cut : length;
}

/* coremltools appends the type that it converted a weight to. */
static size_t plain_length(const char *weight) { return strip(weight, strlen(weight), "_to_fp16"); }

static bool join_name(const char *name, size_t length, const char *suffix, char out[MW__TUNE_NAME])
{
    const size_t tail = strlen(suffix);
    if (length > MW__TUNE_NAME - 1 - tail)
        return false;
    memcpy(out, name, length);
    memcpy(out + length, suffix, tail + 1);
    return true;
}

bool mw__lora_name(const char *weight, const char *suffix, char out[MW__TUNE_NAME])
{
    const size_t plain = plain_length(weight);
    size_t length = strip(weight, plain, ".weight");
    if (length == plain)
        length = strip(weight, plain, "_weight");
    return join_name(weight, length, suffix, out);
}

bool mw__tune_torch_name(const char *weight, char out[MW__TUNE_NAME])
{
    const size_t plain = plain_length(weight);
    size_t length = strip(weight, plain, "_weight");
    if (length < plain)
        return join_name(weight, length, ".weight", out);
    length = strip(weight, plain, "_bias");
    return length < plain ? join_name(weight, length, ".bias", out) : join_name(weight, plain, "", out);
}

/* ---- places ---- */

/* *out_branch: x of the operation can go through an adapter of its own. */
static const char *read_use(const mw__use *use, mw__lora_layout *out_layout, bool *out_branch)
{
    const mw__op *op = use->op;
    const char *arg = op->slots[use->slot].name;
    int64_t groups = 0;
    *out_branch = true;
    if (strcmp(op->kind, "linear") == 0 && strcmp(arg, "weight") == 0) {
        *out_layout = MW__LORA_OUT_IN;
    } else if (strcmp(op->kind, "matmul") == 0 && strcmp(arg, "y") == 0) {
        *out_layout = mw__arg_is_set(op, "transpose_y") ? MW__LORA_OUT_IN : MW__LORA_IN_OUT;
    } else if (strcmp(op->kind, "matmul") == 0 && strcmp(arg, "x") == 0) {
        *out_layout = mw__arg_is_set(op, "transpose_x") ? MW__LORA_IN_OUT : MW__LORA_OUT_IN;
        *out_branch = false;
    } else if (strcmp(op->kind, "conv") == 0 && strcmp(arg, "weight") == 0) {
        *out_layout = MW__LORA_CONV;
        *out_branch = mw__arg_int(op, "groups", &groups) && groups == 1;
    } else {
        return "it is no weight of linear, matmul or conv";
    }
    return NULL;
}

static bool is_in_main(const mw__op *op) { return op->block == op->block->function->body; }

/* ONNX has no product with a transposed operand, so a matrix may stand behind a transpose of its own. */
static bool turns_matrix(const mw__op *op)
{
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    return strcmp(op->kind, "transpose") == 0 && mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count) && count == 2 &&
           (perm[0] == 1 || perm[0] == -1);
}

/* The one use of a weight, behind a transpose the use of that. */
static const mw__use *find_use(const mw_tensor *weight, const mw__use *const *uses, bool *out_turned)
{
    const mw__use *use = uses[weight->id];
    *out_turned = use != NULL && use->next == NULL && turns_matrix(use->op);
    const mw__use *behind = *out_turned ? uses[use->op->results[0]->id] : NULL;
    *out_turned = behind != NULL && behind->next == NULL;
    return *out_turned ? behind : use;
}

const char *mw__lora_find_site(const mw_tensor *weight, const mw__use *const *uses, mw__lora_site *out)
{
    const mw_shape shape = mw_tensor_shape(weight);
    bool branch = false, turned;
    *out = (mw__lora_site){.weight = weight};
    const mw__use *use = find_use(weight, uses, &turned);
    if (use == NULL || use->op->row == NULL)
        return "it is no weight of linear, matmul or conv";
    const char *reason = read_use(use, &out->layout, &branch);
    if (reason != NULL)
        return reason;
    if (turned)
        out->layout = out->layout == MW__LORA_OUT_IN ? MW__LORA_IN_OUT : MW__LORA_OUT_IN;
    if (out->layout != MW__LORA_CONV && shape.rank != 2)
        return "an adapter of a matrix product wants a weight of two axes";
    if (mw_shape_count(shape) <= 0)
        return "it has no elements";
    out->op = branch && use->next == NULL && is_in_main(use->op) ? use->op : NULL;
    out->out = out->layout == MW__LORA_IN_OUT ? shape.dim[1] : shape.dim[0];
    out->in = out->layout == MW__LORA_IN_OUT ? shape.dim[0] : mw__shape_span(shape, 1, shape.rank);
    return NULL;
}

/* ---- the two factors ---- */

typedef struct factors {
    mw_tensor *a, *b, *scale;
} factors;

static mw_tensor *make_part(mw_graph *graph, const mw__lora *lora, const mw__lora_site *site, const char *suffix,
                            mw_shape shape, mw_init init)
{
    char name[MW__TUNE_NAME];
    if (!mw__lora_name(site->weight->name, suffix, name))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", site->weight->name);
    const mw_dtype used = mw_tensor_dtype(site->weight), kept = lora->dtype != MW_DTYPE_NONE ? lora->dtype : used;
    mw_tensor *part = mw_parameter(graph, name, kept, shape, init);
    return kept == used ? part : mw_cast(part, used);
}

/* The scale is kept in fp32 under a name, so that saving and merging find it. */
static mw_tensor *make_scale(mw_graph *graph, const mw__lora_site *site, float scale)
{
    char name[MW__TUNE_NAME];
    if (!mw__lora_name(site->weight->name, MW__LORA_SCALE, name))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "lora: the name \"%.96s\" is too long", site->weight->name);
    const mw__payload *payload = mw__payload_create(graph, MW_F32, mw_shape_scalar(), &scale, &graph->error);
    mw_tensor *value = payload != NULL ? mw__payload_emit(graph, payload, "scale", &graph->error) : NULL;
    value = mw_name(value, name);
    return mw_tensor_dtype(site->weight) == MW_F16 ? mw_cast(value, MW_F16) : value;
}

static factors make_factors(mw_graph *graph, const mw__lora *lora, const mw__lora_site *site)
{
    mw_shape a = MW_SHAPE(lora->rank, site->in), b = MW_SHAPE(site->out, lora->rank);
    const mw_shape weight = mw_tensor_shape(site->weight);
    if (site->layout == MW__LORA_CONV) {
        a = weight;
        a.dim[0] = lora->rank;
        b.rank = weight.rank;
        for (int i = 2; i < b.rank; i++)
            b.dim[i] = 1;
    }
    return (factors){.a = make_part(graph, lora, site, MW__LORA_A, a, mw_init_kaiming_uniform()),
                     .b = make_part(graph, lora, site, MW__LORA_B, b, mw_init_zeros()),
                     .scale = make_scale(graph, site, lora->scale)};
}

mw_tensor *mw__lora_add_to_weight(const mw__lora *lora, const mw__lora_site *site, mw_tensor *weight)
{
    if (weight == NULL)
        return NULL;
    const factors f = make_factors(weight->graph, lora, site);
    mw_tensor *delta;
    if (site->layout == MW__LORA_OUT_IN) {
        delta = mw_matmul(f.b, f.a, MW_TRANSPOSE_NONE);
    } else if (site->layout == MW__LORA_IN_OUT) {
        delta = mw_matmul(f.a, f.b, MW_TRANSPOSE_X | MW_TRANSPOSE_Y);
    } else {
        mw_tensor *b = mw_reshape(f.b, MW_SHAPE(site->out, lora->rank));
        delta = mw_matmul(b, mw_reshape(f.a, MW_SHAPE(lora->rank, site->in)), MW_TRANSPOSE_NONE);
        delta = mw_reshape(delta, mw_tensor_shape(weight));
    }
    return mw_add(weight, mw_mul(delta, f.scale));
}

/* ---- branches ---- */

/* An argument of the source in the copy; a literal gets a statement. */
static mw_tensor *copied_argument(mw__clone *clone, const mw_tensor *value)
{
    mw_graph *to = clone->to;
    mw_tensor *copy = mw__clone_get(clone, value);
    if (copy != NULL || value->payload == NULL)
        return copy;
    const mw__payload *payload = mw__payload_copy(to, value->payload, &to->error);
    return payload != NULL ? mw__payload_emit(to, payload, value->hint, &to->error) : NULL;
}

/* conv(conv(x, A), B): the first as that of the weight, without its bias, the second 1 x 1. */
static mw_tensor *conv_branch(mw__clone *clone, const mw__op *op, const factors *f)
{
    mw_graph *to = clone->to;
    mw__build first = mw__build_begin_graph("conv", to), second = mw__build_begin_graph("conv", to);
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (slot->operands == NULL || strcmp(slot->name, "bias") == 0)
            continue;
        const bool weight = strcmp(slot->name, "weight") == 0;
        mw__build_set(&first, slot->name, weight ? f->a : copied_argument(clone, slot->operands[0].value));
    }
    mw__build_set(&second, "x", mw__build_end(&first));
    mw__build_set(&second, "weight", f->b);
    return mw__build_end(&second);
}

static mw_tensor *make_branch(mw__clone *clone, const mw__lora_site *site, const factors *f)
{
    const mw__op *op = site->op;
    if (site->layout == MW__LORA_CONV)
        return conv_branch(clone, op, f);
    const bool turned = strcmp(op->kind, "matmul") == 0 && mw__arg_is_set(op, "transpose_x");
    mw_tensor *x = copied_argument(clone, mw__arg(op, "x"));
    return mw_matmul(mw_matmul(x, f->a, (turned ? MW_TRANSPOSE_X : MW_TRANSPOSE_NONE) | MW_TRANSPOSE_Y), f->b,
                     MW_TRANSPOSE_Y);
}

void mw__lora_add_branch(const mw__lora *lora, const mw__lora_site *site, mw__clone *clone)
{
    mw_graph *to = clone->to;
    if (mw__clone_op(clone, site->op, &to->error) != MW_OK)
        return;
    mw_tensor *base = mw__clone_get(clone, site->op->results[0]);
    if (base->op != NULL)
        base->op->name = NULL; /* it stands for the sum now */
    const factors f = make_factors(to, lora, site);
    mw__clone_set(clone, site->op->results[0], mw_add(base, mw_mul(make_branch(clone, site, &f), f.scale)));
}
