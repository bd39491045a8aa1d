/* Plans as JSON: one object of arrays, with the fields of chip_plan.h. */
#include "base/text/json_write.h"
#include "chip/plan/print.h"

enum { STRING_BYTES = 399 }; /* what is shown of one */

static void put_text(mw__json_writer *json, const char *key, const char *string)
{
    mw__json_add_printable(json, key, string, STRING_BYTES);
}

/* MW_CHIP_NONE is null. */
static void put_index(mw__json_writer *json, const char *key, size_t index)
{
    if (index == MW_CHIP_NONE)
        mw__json_add_null(json, key);
    else
        mw__json_add_unsigned(json, key, index);
}

static void put_real(mw__json_writer *json, const char *key, double number)
{
    mw__json_add_key(json, key);
    mw__chip_plan_put_fixed(&json->text, number, 3);
}

static void put_list(mw__json_writer *json, const char *key, const size_t *items, size_t count)
{
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        mw__json_add_unsigned(json, NULL, items[i]);
    mw__json_close(json, ']');
}

/* ---- items ---- */

static void put_op(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_plan_op *op = &plan->ops[index];
    put_text(json, "operation", op->operation);
    put_text(json, "tensor", op->tensor);
    put_index(json, "layer", op->layer);
    put_text(json, "slot", mw_chip_slot_name(op->slot));
    put_text(json, "rule", op->rule->id);
    put_text(json, "reason", op->reason);
}

static void put_layer(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_layer *l = &plan->layers[index];
    put_text(json, "kind", l->kind);
    put_text(json, "name", l->name);
    put_text(json, "engine", mw_chip_engine_name(l->engine));
    put_list(json, "ops", l->ops, l->op_count);
    put_list(json, "inputs", l->inputs, l->input_count);
    put_list(json, "outputs", l->outputs, l->output_count);
    put_real(json, "flops", l->flops);
    mw__json_add_integer(json, "bytes_in", l->bytes_in);
    mw__json_add_integer(json, "bytes_out", l->bytes_out);
    mw__json_add_integer(json, "weight_bytes", l->weight_bytes);
    mw__json_add_integer(json, "weight_offset", l->weight_offset);
    mw__json_add_bool(json, "weights_stay", l->weights_stay);
    put_index(json, "kernel_parts", l->kernel_parts);
    put_index(json, "tiles", l->tiles);
    put_text(json, "refused", l->refused);
    put_text(json, "refused_rule", l->refused_rule);
    put_index(json, "segment", l->segment);
    put_index(json, "partition", l->partition);
    put_index(json, "partner", l->partner);
    put_real(json, "start_us", l->start_us);
    put_real(json, "time_us", l->time_us);
    put_text(json, "bound", l->bound == MW_CHIP_BOUND_COMPUTE ? "compute" : "bandwidth");
}

static void put_split(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_split *s = &plan->splits[index];
    put_text(json, "rule", s->rule->id);
    put_index(json, "layer", s->layer);
    put_text(json, "reason", s->reason);
    mw__json_add_integer(json, "limit", s->limit);
    mw__json_add_integer(json, "there", s->there);
}

static void put_segment(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_segment *s = &plan->segments[index];
    mw__json_add_unsigned(json, "first_layer", s->first_layer);
    put_index(json, "layer_count", s->layer_count);
    mw__json_add_bool(json, "is_bridge", s->is_bridge);
    put_index(json, "engines", s->engines);
    put_index(json, "parts", s->parts);
    put_index(json, "first_engine_parts", s->first_engine_parts);
}

static void put_partition(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_partition *part = &plan->partitions[index];
    mw__json_add_unsigned(json, "first_layer", part->first_layer);
    put_index(json, "layer_count", part->layer_count);
    put_index(json, "segment", part->segment);
    mw__json_add_integer(json, "peak", part->peak);
    put_text(json, "closed_by", part->closed_by->id);
    mw__json_add_integer(json, "refused_peak", part->refused_peak);
}

static void put_pair(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_pair *pair = &plan->pairs[index];
    mw__json_add_unsigned(json, "first", pair->first);
    put_index(json, "second", pair->second);
    mw__json_add_bool(json, "issued", pair->issued);
    put_text(json, "rule", pair->rule->id);
}

static void put_shape(mw__json_writer *json, mw_shape shape)
{
    mw__json_open(json, "shape", '[');
    for (int i = 0; i < shape.rank; i++)
        mw__json_add_integer(json, NULL, shape.dim[i]);
    mw__json_close(json, ']');
}

static void put_value(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    static const char *const memories[] = {"chip", "dram", "port"};
    const mw_chip_value *v = &plan->values[index];
    put_text(json, "name", v->name);
    put_text(json, "dtype", mw_dtype_name(v->dtype));
    put_shape(json, v->shape);
    mw__json_add_integer(json, "bytes", v->bytes);
    put_index(json, "producer", v->producer);
    put_list(json, "readers", v->readers, v->reader_count);
    mw__json_add_bool(json, "is_output", v->is_output);
    put_index(json, "first", v->first);
    put_index(json, "last", v->last);
    mw__json_add_integer(json, "allocation", v->allocation);
    put_text(json, "reason", v->reason);
    put_text(json, "memory", memories[v->memory]);
    mw__json_add_integer(json, "offset", v->offset);
    mw__json_add_integer(json, "extent", v->extent);
    put_index(json, "over", v->over);
}

static void put_time(mw__json_writer *json, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_time *t = &plan->times[index];
    put_text(json, "name", t->name);
    put_real(json, "low_us", t->low_us);
    put_real(json, "high_us", t->high_us);
    put_text(json, "basis", mw_chip_time_basis_name(t->basis));
    put_text(json, "source", t->source);
}

/* ---- all of it ---- */

typedef void put_item(mw__json_writer *json, const mw_chip_plan *plan, size_t index);

static void put_items(mw__json_writer *json, const mw_chip_plan *plan, const char *key, size_t count, put_item *put)
{
    mw__json_break(json);
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        mw__json_break(json);
        mw__json_open(json, NULL, '{');
        put(json, plan, i);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void put_totals(mw__json_writer *json, const mw_chip_plan *plan)
{
    const mw_chip_plan_totals *t = &plan->totals;
    put_text(json, "chip", plan->chip->name);
    mw__json_add_integer(json, "on_chip_peak", t->on_chip_peak);
    mw__json_add_integer(json, "working_set", t->working_set);
    mw__json_add_integer(json, "budget", t->budget);
    mw__json_add_integer(json, "dram_bytes", t->dram_bytes);
    mw__json_add_integer(json, "streamed_bytes", t->streamed_bytes);
    mw__json_add_integer(json, "weight_bytes", t->weight_bytes);
    put_real(json, "flops", t->flops);
    put_real(json, "time_us", t->time_us);
    put_real(json, "floor_us", t->floor_us);
}

char *mw_chip_plan_print_json(const mw_chip_plan *plan, mw_error *err)
{
    mw__json_writer json;
    if (mw__skips(err) || mw__chip_plan_writes(plan, __func__, err) != MW_OK)
        return NULL;
    mw__json_writer_init(&json, mw__allocator_default(), false); /* mw_string_free knows no other */
    mw__json_open(&json, NULL, '{');
    put_totals(&json, plan);
    put_items(&json, plan, "ops", plan->op_count, put_op);
    put_items(&json, plan, "layers", plan->layer_count, put_layer);
    put_items(&json, plan, "splits", plan->split_count, put_split);
    put_items(&json, plan, "segments", plan->segment_count, put_segment);
    put_items(&json, plan, "partitions", plan->partition_count, put_partition);
    put_items(&json, plan, "pairs", plan->pair_count, put_pair);
    put_items(&json, plan, "values", plan->value_count, put_value);
    put_items(&json, plan, "times", plan->time_count, put_time);
    mw__json_close(&json, '}');
    mw__text_puts(&json.text, "\n");
    return mw__text_take(&json.text, err);
}
