/* Phase 1: operations become layers, or fill a slot of the layer before them. */
#include "chip/plan/plan.h"

#include <string.h>

/* What an operation that wants a slot continues, and by which row. */
typedef struct wish {
    mw__slot_kind slot;
    mw__slot_kind end; /* how far it fills the slots; a batch norm has gain and offset */
    const mw_tensor *live;
    mw__chip_plan_rule_id rule;
} wish;

/* ---- which slot ---- */

static bool is_floating(const mw_tensor *value)
{
    const mw_dtype dtype = value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    return dtype == MW_F16 || dtype == MW_F32;
}

static mw_chip_slot public_slot(mw__slot_kind slot)
{
    static const mw_chip_slot slots[] = {
        [MW__SLOT_OPERATION] = MW_CHIP_SLOT_OPERATION, [MW__SLOT_TEXTURE] = MW_CHIP_SLOT_TEXTURE,
        [MW__SLOT_BROADCAST] = MW_CHIP_SLOT_BROADCAST, [MW__SLOT_BEFORE] = MW_CHIP_SLOT_BEFORE,
        [MW__SLOT_GAIN] = MW_CHIP_SLOT_GAIN,           [MW__SLOT_OFFSET] = MW_CHIP_SLOT_OFFSET,
        [MW__SLOT_AFTER] = MW_CHIP_SLOT_AFTER,         [MW__SLOT_LAYOUT] = MW_CHIP_SLOT_TRANSPOSE,
        [MW__SLOT_QUANT] = MW_CHIP_SLOT_QUANTIZE,      [MW__SLOT_NONE] = MW_CHIP_SLOT_OPERATION};
    return slots[slot];
}

static bool has_constant_statistics(const mw__op *op)
{
    static const char *const names[] = {"mean", "variance", "gamma", "beta"};
    bool all = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mw_tensor *value = mw__legality_argument(op, names[i]);
        all = all && (value == NULL || mw__is_constant(value));
    }
    return all;
}

/* It repeats only axes of one element. */
static bool only_broadcasts(const mw__op *op)
{
    int64_t reps[MW_RANK_MAX];
    size_t count = 0;
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    bool all = mw__arg_ints(op, "reps", reps, MW_RANK_MAX, &count) && (int)count == x.rank;
    for (int i = 0; all && i < x.rank; i++)
        all = reps[i] == 1 || x.dim[i] == 1;
    return all;
}

static mw__chip_plan_rule_id rule_of_function(const mw__op *op)
{
    return mw__chip_layer_function_is_curve(op) ? MW__PLAN_activation_table : MW__PLAN_activation;
}

static mw__chip_plan_rule_id rule_of(mw__slot_kind slot, const mw__op *op)
{
    switch (slot) {
    case MW__SLOT_GAIN:
        return MW__PLAN_scale;
    case MW__SLOT_OFFSET:
        return MW__PLAN_bias_add;
    case MW__SLOT_LAYOUT:
        return MW__PLAN_transpose_slot;
    default:
        return rule_of_function(op);
    }
}

static wish wish_for(mw__slot_kind slot, mw__slot_kind end, const mw_tensor *live, mw__chip_plan_rule_id rule)
{
    return (wish){.slot = slot, .end = end, .live = live, .rule = rule};
}

/* What the shared rule of slots.h has no word of. */
static wish wish_of_others(const mw__chip_planner *p, const mw__op *op)
{
    if (op->row->id == MW__OP_quantize)
        return wish_for(MW__SLOT_QUANT, MW__SLOT_QUANT, mw__arg(op, "input"), MW__PLAN_quantize_slot);
    if (op->row->id == MW__OP_dequantize)
        return wish_for(MW__SLOT_GAIN, MW__SLOT_OFFSET, mw__arg(op, "input"), MW__PLAN_scale);
    if (op->row->id == MW__OP_batch_norm && has_constant_statistics(op))
        return wish_for(MW__SLOT_GAIN, MW__SLOT_OFFSET, mw__arg(op, "x"), MW__PLAN_batch_norm);
    if (op->row->id == MW__OP_tile && only_broadcasts(op))
        return wish_for(MW__SLOT_BROADCAST, MW__SLOT_BROADCAST, mw__arg(op, "x"), MW__PLAN_broadcast);
    if (mw__op_has(op, MW__TRAIT_VIEW))
        return wish_for(MW__SLOT_LAYOUT, MW__SLOT_LAYOUT, mw__legality_argument(op, "x"), MW__PLAN_transpose_slot);
    if (mw__chip_plan_kind(p, op)->engine == MW_CHIP_ENGINE_TEXTURE &&
        strcmp(mw__chip_plan_kind(p, op)->name, "sample") == 0)
        return wish_for(MW__SLOT_TEXTURE, MW__SLOT_TEXTURE, mw__arg(op, "x"), MW__PLAN_texture_remap);
    return (wish){.slot = MW__SLOT_NONE};
}

static wish wish_of(const mw__chip_planner *p, const mw__op *op)
{
    wish w = {.slot = MW__SLOT_NONE};
    if (op->result_count != 1)
        return w;
    w.slot = mw__slot_behind(op, &w.live);
    w.end = w.slot;
    if (w.slot == MW__SLOT_NONE)
        w = wish_of_others(p, op);
    else
        w.rule = rule_of(w.slot, op);
    const bool is_function = w.slot == MW__SLOT_BEFORE;
    if (w.slot == MW__SLOT_NONE || w.live == NULL || mw__chip_plan_is_constant(p, w.live) ||
        (is_function && p->options->published_functions_only && !mw__chip_layer_function_is_published(op)))
        return (wish){.slot = MW__SLOT_NONE};
    w.live = mw__chip_plan_resolve(p, w.live);
    return w;
}

/* ---- whether it fits ---- */

static bool absorbs(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    const mw__chip_layer_class class = layer->kind->class;
    if (layer->is_cut || class == MW__LAYER_MOVE)
        return false;
    if (class == MW__LAYER_REDUCTION)
        return p->options->absorbers >= MW_CHIP_ABSORB_REDUCTIONS;
    return class != MW__LAYER_OTHER || p->options->absorbers == MW_CHIP_ABSORB_ANY;
}

/* The row that says why not; MW__PLAN_RULE_COUNT if it fits. */
static mw__chip_plan_rule_id why_not(const mw__chip_planner *p, const mw__op *op, const wish *w)
{
    const size_t maker = p->made_by[w->live->id];
    if (maker == MW_CHIP_NONE)
        return MW__PLAN_of_an_input;
    if (p->plan->ops[maker].layer == MW_CHIP_NONE) /* a concat that vanished */
        return MW__PLAN_no_epilogue;
    const mw__chip_plan_layer *layer = &p->layers[p->plan->ops[maker].layer];
    const mw__slot_kind taken = mw__slot_taken(w->slot, layer->filled);
    if (w->live->is_output)
        return MW__PLAN_of_an_output;
    if (p->uses[w->live->id] != 1)
        return MW__PLAN_several_readers;
    if (!absorbs(p, layer) || (!is_floating(w->live) && op->row->id != MW__OP_dequantize))
        return MW__PLAN_no_epilogue;
    return taken > layer->filled ? MW__PLAN_RULE_COUNT : MW__PLAN_slot_filled;
}

/* ---- filling slots ---- */

static const char *shown_name(const mw__op *op)
{
    return op->result_count > 0 && op->results[0]->name != NULL ? op->results[0]->name : "?";
}

static bool has_constant_weights(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    const mw__op *op = layer->head;
    const mw_tensor *weight = mw__legality_argument(op, op->row->id == MW__OP_matmul ? "y" : "weight");
    return layer->kind->class == MW__LAYER_PRODUCT && weight != NULL && mw__chip_plan_is_constant(p, weight);
}

static bool goes_into_weights(const mw__chip_planner *p, const mw__chip_plan_layer *layer, const wish *w)
{
    return p->options->scale == MW_CHIP_SCALE_WEIGHTS && w->rule == MW__PLAN_scale &&
           layer->filled == MW__SLOT_OPERATION && has_constant_weights(p, layer);
}

static void fill_layer(mw__chip_planner *p, size_t at, const wish *w)
{
    const size_t index = p->plan->ops[p->made_by[w->live->id]].layer;
    mw__chip_plan_layer *layer = &p->layers[index];
    layer->tail_index = at;
    if (goes_into_weights(p, layer, w)) {
        mw__chip_plan_note(p, at, MW_CHIP_SLOT_OPERAND, index, MW__PLAN_scale_into_weights,
                           "into the weights of %s \"%s\"", layer->head->kind, shown_name(layer->head));
        return;
    }
    const mw__slot_kind taken = mw__slot_taken(w->slot, layer->filled);
    layer->filled = w->end > taken ? w->end : taken;
    mw__chip_plan_note(p, at, public_slot(taken), index, w->rule, "%s of %s \"%s\"",
                       mw_chip_slot_name(public_slot(taken)), layer->head->kind, shown_name(layer->head));
}

/* ---- layers ---- */

bool mw__chip_plan_is_convolution(const mw__chip_planner *p, const mw__op *op)
{
    if (op->row->id != MW__OP_matmul && op->row->id != MW__OP_linear)
        return false;
    const bool is_linear = op->row->id == MW__OP_linear;
    const mw_tensor *x = mw__legality_argument(op, "x"),
                    *weight = mw__legality_argument(op, is_linear ? "weight" : "y");
    const bool constant =
        weight != NULL && x != NULL && mw__chip_plan_is_constant(p, weight) && !mw__chip_plan_is_constant(p, x);
    const mw_shape shape = constant ? mw_tensor_shape(weight) : mw_shape_scalar();
    int64_t matrices = 1;
    for (int i = 0; i + 2 < shape.rank; i++)
        matrices *= shape.dim[i] == 1 ? 1 : 0;
    return constant && shape.rank >= 2 && matrices == 1 && mw__chip_plan_constant_bytes(weight) <= p->matmul_weight_max;
}

const mw__chip_layer_kind *mw__chip_plan_kind(const mw__chip_planner *p, const mw__op *op)
{
    const mw_tensor *live;
    if (op->row == NULL)
        return mw__chip_layer_kind_of(op, p->chip);
    if (mw__chip_plan_is_convolution(p, op))
        return mw__chip_layer_kind_convolution();
    const mw__slot_kind slot = mw__slot_behind(op, &live);
    if (slot == MW__SLOT_GAIN || slot == MW__SLOT_OFFSET)
        return mw__chip_layer_kind_gain_offset();
    return mw__chip_layer_kind_of(op, p->chip);
}

static bool is_pair(const mw__op *op) { return mw__op_has(op, MW__TRAIT_ELEMENTWISE | MW__TRAIT_BROADCASTS); }

/* Of an operation that wants no slot. */
static void head_layer(mw__chip_planner *p, size_t at, size_t layer)
{
    const mw__op *op = p->body->ops[at];
    const mw_tensor *x = mw__legality_argument(op, "x"), *y = mw__legality_argument(op, "y");
    const bool both = x != NULL && y != NULL && !mw__chip_plan_is_constant(p, x) && !mw__chip_plan_is_constant(p, y);
    mw__chip_plan_rule_id rule = MW__PLAN_layer;
    const char *reason = p->layers[layer].kind->source;
    if (mw__chip_plan_is_convolution(p, op))
        rule = MW__PLAN_matmul_to_convolution, reason = "its weights are constant and fit";
    else if (op->row->id == MW__OP_matmul || op->row->id == MW__OP_linear)
        rule = MW__PLAN_matmul,
        reason = both || op->row->id == MW__OP_linear ? "both sides are computed" : "its weights do not fit";
    else if (mw__op_is(op, "conv") || op->row->id == MW__OP_conv_transpose)
        rule = MW__PLAN_convolution, reason = "one layer";
    else if (op->row->id == MW__OP_concat || op->row->id == MW__OP_stack)
        rule = MW__PLAN_concat_boundary, reason = "its parts are moved";
    else if (is_pair(op))
        rule = both ? MW__PLAN_two_live_inputs : MW__PLAN_constant_no_vector,
        reason = both ? "both inputs are computed" : "its constant has several axes, or divides";
    mw__chip_plan_note(p, at, MW_CHIP_SLOT_OPERATION, layer, rule, "%s", reason);
}

static void stand_alone(mw__chip_planner *p, size_t at, const wish *w, mw__chip_plan_rule_id rule)
{
    const size_t layer = mw__chip_plan_add_layer(p, at, mw__chip_plan_kind(p, p->body->ops[at]));
    if (layer == MW_CHIP_NONE)
        return;
    if (w->slot == MW__SLOT_NONE) {
        head_layer(p, at, layer);
        return;
    }
    const mw__op *before = mw__chip_plan_maker(p, w->live);
    p->layers[layer].filled = w->end;
    mw__chip_plan_note(p, at, public_slot(w->slot), layer, rule, "%s \"%s\"", before != NULL ? before->kind : "input",
                       w->live->name != NULL ? w->live->name : "?");
}

static void cut_layer(mw__chip_planner *p, size_t at, mw__chip_plan_rule_id rule, const char *reason)
{
    const size_t layer = mw__chip_plan_add_layer(p, at, mw__chip_plan_kind(p, p->body->ops[at]));
    if (layer == MW_CHIP_NONE)
        return;
    p->layers[layer].is_cut = true;
    p->layers[layer].public.refused = reason;
    p->layers[layer].public.refused_rule = mw__chip_plan_rules[rule].id;
    mw__chip_plan_note(p, at, MW_CHIP_SLOT_OPERATION, layer, rule, "%s", reason);
}

/* ---- concat ---- */

static bool is_part(const mw__chip_planner *p, const mw_tensor *value)
{
    if (value == NULL || mw__chip_plan_is_constant(p, value))
        return false;
    value = mw__chip_plan_resolve(p, value);
    const size_t maker = p->made_by[value->id];
    return maker != MW_CHIP_NONE && p->uses[value->id] == 1 && !value->is_output && !p->folded_concat[maker];
}

static bool joins_channels(const mw__chip_planner *p, const mw__op *op)
{
    const mw__operand *values;
    int64_t axis = 0;
    const mw_tensor *y = op->results[0];
    if (op->row->id != MW__OP_concat || p->options->concat != MW_CHIP_CONCAT_CHANNELS || y->is_output ||
        !mw__arg_int(op, "axis", &axis))
        return false;
    const size_t count = mw__arg_values(op, "values", &values);
    bool parts = count > 0 && (axis < 0 ? axis + mw_tensor_shape(y).rank : axis) == 1;
    for (size_t i = 0; i < count; i++)
        parts = parts && is_part(p, values[i].value);
    return parts;
}

/* ---- all of it ---- */

static void fuse_op(mw__chip_planner *p, size_t at)
{
    const mw__op *op = p->body->ops[at];
    if (p->plan->ops[at].rule != NULL)
        return;
    if (p->is_unsound[at]) {
        cut_layer(p, at, MW__PLAN_refused, "it is not known, has blocks, or breaks its own rule");
        return;
    }
    if (op->row->id == MW__OP_scaled_dot_product_attention) {
        cut_layer(p, at, MW__PLAN_sdpa_cut, "attention is cut out of the program");
        return;
    }
    if (joins_channels(p, op)) {
        p->folded_concat[at] = true;
        mw__chip_plan_note(p, at, MW_CHIP_SLOT_ELIMINATED, MW_CHIP_NONE, MW__PLAN_concat_fused,
                           "its parts are in place");
        return;
    }
    const wish w = wish_of(p, op);
    const mw__chip_plan_rule_id why = w.slot != MW__SLOT_NONE ? why_not(p, op, &w) : MW__PLAN_layer;
    if (why == MW__PLAN_RULE_COUNT)
        fill_layer(p, at, &w);
    else
        stand_alone(p, at, &w, why);
}

mw_status mw__chip_plan_fuse(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->body->op_count && !mw__failed(p->err); i++)
        fuse_op(p, i);
    return p->err->status;
}
