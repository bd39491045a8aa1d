/* Plans as JSON: one object of arrays, with the fields of chip_plan.h. */
#include "base/text/shown.h"
#include "chip/plan/print.h"

enum { STRING_BYTES = 400 }; /* what is shown of one */

/* What is shown holds no control character, so that quotes and backslashes are all that JSON wants escaped. */
static void put_string(mw__text *text, const char *string)
{
    char shown[STRING_BYTES];
    if (string == NULL) {
        mw__text_puts(text, "null");
        return;
    }
    mw__text_puts(text, "\"");
    for (const char *c = mw__shown(shown, sizeof shown, string); *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mw__text_puts(text, "\\");
        mw__text_append(text, c, 1);
    }
    mw__text_puts(text, "\"");
}

static void put_key(mw__text *text, const char *key) { mw__text_printf(text, ", \"%s\": ", key); }

static void put_text(mw__text *text, const char *key, const char *string)
{
    put_key(text, key);
    put_string(text, string);
}

/* MW_CHIP_NONE is null. */
static void put_index(mw__text *text, const char *key, size_t index)
{
    put_key(text, key);
    if (index == MW_CHIP_NONE)
        mw__text_puts(text, "null");
    else
        mw__text_printf(text, "%zu", index);
}

static void put_number(mw__text *text, const char *key, int64_t number)
{
    put_key(text, key);
    mw__text_printf(text, "%lld", (long long)number);
}

static void put_real(mw__text *text, const char *key, double number)
{
    put_key(text, key);
    mw__chip_plan_put_fixed(text, number, 3);
}

static void put_bool(mw__text *text, const char *key, bool value)
{
    put_key(text, key);
    mw__text_puts(text, value ? "true" : "false");
}

static void put_list(mw__text *text, const char *key, const size_t *items, size_t count)
{
    put_key(text, key);
    mw__text_puts(text, "[");
    for (size_t i = 0; i < count; i++)
        mw__text_printf(text, "%s%zu", i > 0 ? ", " : "", items[i]);
    mw__text_puts(text, "]");
}

/* ---- items: the first field of each has no comma before it ---- */

static void put_op(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_plan_op *op = &plan->ops[index];
    mw__text_puts(text, "{\"operation\": ");
    put_string(text, op->operation);
    put_text(text, "tensor", op->tensor);
    put_index(text, "layer", op->layer);
    put_text(text, "slot", mw_chip_slot_name(op->slot));
    put_text(text, "rule", op->rule->id);
    put_text(text, "reason", op->reason);
}

static void put_layer(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_layer *l = &plan->layers[index];
    mw__text_puts(text, "{\"kind\": ");
    put_string(text, l->kind);
    put_text(text, "name", l->name);
    put_text(text, "engine", mw_chip_engine_name(l->engine));
    put_list(text, "ops", l->ops, l->op_count);
    put_list(text, "inputs", l->inputs, l->input_count);
    put_list(text, "outputs", l->outputs, l->output_count);
    put_real(text, "flops", l->flops);
    put_number(text, "bytes_in", l->bytes_in);
    put_number(text, "bytes_out", l->bytes_out);
    put_number(text, "weight_bytes", l->weight_bytes);
    put_number(text, "weight_offset", l->weight_offset);
    put_bool(text, "weights_stay", l->weights_stay);
    put_index(text, "kernel_parts", l->kernel_parts);
    put_index(text, "tiles", l->tiles);
    put_text(text, "refused", l->refused);
    put_text(text, "refused_rule", l->refused_rule);
    put_index(text, "segment", l->segment);
    put_index(text, "partition", l->partition);
    put_index(text, "partner", l->partner);
    put_real(text, "start_us", l->start_us);
    put_real(text, "time_us", l->time_us);
    put_text(text, "bound", l->bound == MW_CHIP_BOUND_COMPUTE ? "compute" : "bandwidth");
}

static void put_split(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_split *s = &plan->splits[index];
    mw__text_puts(text, "{\"rule\": ");
    put_string(text, s->rule->id);
    put_index(text, "layer", s->layer);
    put_text(text, "reason", s->reason);
    put_number(text, "limit", s->limit);
    put_number(text, "there", s->there);
}

static void put_segment(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_segment *s = &plan->segments[index];
    mw__text_printf(text, "{\"first_layer\": %zu", s->first_layer);
    put_index(text, "layer_count", s->layer_count);
    put_bool(text, "is_bridge", s->is_bridge);
}

static void put_partition(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_partition *part = &plan->partitions[index];
    mw__text_printf(text, "{\"first_layer\": %zu", part->first_layer);
    put_index(text, "layer_count", part->layer_count);
    put_index(text, "segment", part->segment);
    put_number(text, "peak", part->peak);
    put_text(text, "closed_by", part->closed_by->id);
    put_number(text, "refused_peak", part->refused_peak);
}

static void put_pair(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_pair *pair = &plan->pairs[index];
    mw__text_printf(text, "{\"first\": %zu", pair->first);
    put_index(text, "second", pair->second);
    put_bool(text, "issued", pair->issued);
    put_text(text, "rule", pair->rule->id);
}

static void put_shape(mw__text *text, mw_shape shape)
{
    put_key(text, "shape");
    for (int i = 0; i < shape.rank; i++)
        mw__text_printf(text, "%s%lld", i > 0 ? ", " : "[", (long long)shape.dim[i]);
    mw__text_puts(text, shape.rank > 0 ? "]" : "[]");
}

static void put_value(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    static const char *const memories[] = {"chip", "dram", "port"};
    const mw_chip_value *v = &plan->values[index];
    mw__text_puts(text, "{\"name\": ");
    put_string(text, v->name);
    put_text(text, "dtype", mw_dtype_name(v->dtype));
    put_shape(text, v->shape);
    put_number(text, "bytes", v->bytes);
    put_index(text, "producer", v->producer);
    put_list(text, "readers", v->readers, v->reader_count);
    put_bool(text, "is_output", v->is_output);
    put_index(text, "first", v->first);
    put_index(text, "last", v->last);
    put_number(text, "allocation", v->allocation);
    put_text(text, "reason", v->reason);
    put_text(text, "memory", memories[v->memory]);
    put_number(text, "offset", v->offset);
    put_number(text, "extent", v->extent);
    put_index(text, "over", v->over);
}

/* ---- all of it ---- */

typedef void put_item(mw__text *text, const mw_chip_plan *plan, size_t index);

static void put_items(mw__text *text, const mw_chip_plan *plan, const char *key, size_t count, put_item *put)
{
    mw__text_printf(text, ",\n\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(text, i > 0 ? ",\n" : "\n");
        put(text, plan, i);
        mw__text_puts(text, "}");
    }
    mw__text_puts(text, "]");
}

static void put_totals(mw__text *text, const mw_chip_plan *plan)
{
    const mw_chip_plan_totals *t = &plan->totals;
    mw__text_puts(text, "{\"chip\": ");
    put_string(text, plan->chip->name);
    put_number(text, "on_chip_peak", t->on_chip_peak);
    put_number(text, "working_set", t->working_set);
    put_number(text, "budget", t->budget);
    put_number(text, "dram_bytes", t->dram_bytes);
    put_number(text, "streamed_bytes", t->streamed_bytes);
    put_number(text, "weight_bytes", t->weight_bytes);
    put_real(text, "flops", t->flops);
    put_real(text, "time_us", t->time_us);
    put_real(text, "floor_us", t->floor_us);
}

char *mw_chip_plan_print_json(const mw_chip_plan *plan, mw_error *err)
{
    mw__text text;
    if (mw__skips(err) || mw__chip_plan_writes(plan, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    put_totals(&text, plan);
    put_items(&text, plan, "ops", plan->op_count, put_op);
    put_items(&text, plan, "layers", plan->layer_count, put_layer);
    put_items(&text, plan, "splits", plan->split_count, put_split);
    put_items(&text, plan, "segments", plan->segment_count, put_segment);
    put_items(&text, plan, "partitions", plan->partition_count, put_partition);
    put_items(&text, plan, "pairs", plan->pair_count, put_pair);
    put_items(&text, plan, "values", plan->value_count, put_value);
    mw__text_puts(&text, "}\n");
    return mw__chip_plan_finish(&text, err);
}
