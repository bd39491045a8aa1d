/* What goes from layer to layer: the values of the plan, and which layers read which. */
#include "chip/plan/plan.h"

typedef struct connecting {
    mw__chip_planner *p;
    size_t *of_tensor; /* value by id of its tensor, or MW_CHIP_NONE */
    size_t *reads;     /* how many layers read a value */
    const mw_tensor ***inputs;
    size_t *input_counts; /* by layer */
} connecting;

/* ---- values ---- */

static void add_value(connecting *c, const mw_tensor *tensor, size_t producer)
{
    mw__chip_planner *p = c->p;
    if (c->of_tensor[tensor->id] != MW_CHIP_NONE)
        return;
    c->of_tensor[tensor->id] = p->value_count;
    p->values[p->value_count++] = (mw__chip_plan_value){
        .tensor = tensor,
        .producer = producer,
        .public = {.name = mw__chip_plan_string(p, tensor->name),
                   .dtype = tensor->type->kind == MW__TENSOR ? tensor->type->dtype : MW_DTYPE_NONE,
                   .shape = mw_tensor_shape(tensor),
                   .bytes = mw__chip_plan_value_bytes(p, tensor),
                   .producer = producer,
                   .is_output = tensor->is_output,
                   .over = MW_CHIP_NONE}};
}

static size_t count_results(const mw__chip_planner *p)
{
    size_t count = p->body->input_count + p->body->output_count;
    for (size_t i = 0; i < p->layer_count; i++)
        count += p->body->ops[p->layers[i].tail_index]->result_count;
    return count;
}

static void add_values(connecting *c)
{
    mw__chip_planner *p = c->p;
    for (size_t i = 0; i < p->body->input_count; i++)
        add_value(c, p->body->inputs[i], MW_CHIP_NONE);
    for (size_t i = 0; i < p->layer_count; i++) {
        const mw__op *tail = p->body->ops[p->layers[i].tail_index];
        for (size_t r = 0; r < tail->result_count; r++)
            add_value(c, tail->results[r], i);
    }
    for (size_t i = 0; i < p->body->output_count; i++) /* constants that are results */
        add_value(c, p->body->outputs[i], MW_CHIP_NONE);
}

/* A value with unknown extents has no place. */
static mw_status check_extents(const mw__chip_planner *p)
{
    for (size_t i = 0; i < p->value_count; i++) {
        const mw_tensor *tensor = p->values[i].tensor;
        if (tensor->type->kind == MW__TENSOR && mw_shape_count(mw_tensor_shape(tensor)) < 0)
            return mw__fail(p->err, MW_ERROR_SHAPE,
                            "\"%s\" has `?` extents: a plan wants shapes, and as_it_is takes none",
                            tensor->name != NULL ? tensor->name : "?");
    }
    return MW_OK;
}

/* ---- readers ---- */

static mw_status take_inputs(connecting *c)
{
    mw__chip_planner *p = c->p;
    for (size_t i = 0; i < p->layer_count; i++) {
        c->inputs[i] = mw__chip_plan_layer_inputs(p, &p->layers[i], &c->input_counts[i]);
        if (c->inputs[i] == NULL)
            return MW_ERROR_MEMORY;
        size_t kept = 0;
        for (size_t k = 0; k < c->input_counts[i]; k++) /* what a nested block makes is no value here */
            if (c->of_tensor[c->inputs[i][k]->id] != MW_CHIP_NONE) {
                c->reads[c->of_tensor[c->inputs[i][k]->id]]++;
                c->inputs[i][kept++] = c->inputs[i][k];
            }
        c->input_counts[i] = kept;
    }
    return MW_OK;
}

static mw_status make_lists(connecting *c)
{
    mw__chip_planner *p = c->p;
    for (size_t v = 0; v < p->value_count; v++) {
        p->values[v].readers = mw__arena_alloc(&p->plan->arena, c->reads[v], sizeof *p->values[v].readers, p->err);
        if (p->values[v].readers == NULL)
            return MW_ERROR_MEMORY;
    }
    for (size_t i = 0; i < p->layer_count; i++) {
        mw_chip_layer *layer = &p->layers[i].public;
        size_t *inputs = mw__arena_alloc(&p->plan->arena, c->input_counts[i], sizeof *inputs, p->err);
        if (inputs == NULL)
            return MW_ERROR_MEMORY;
        for (size_t k = 0; k < c->input_counts[i]; k++) {
            mw__chip_plan_value *value = &p->values[c->of_tensor[c->inputs[i][k]->id]];
            inputs[k] = (size_t)(value - p->values);
            value->readers[value->reader_count++] = i;
        }
        layer->inputs = inputs;
        layer->input_count = c->input_counts[i];
    }
    return MW_OK;
}

static mw_status list_outputs(mw__chip_planner *p)
{
    for (size_t v = 0; v < p->value_count; v++)
        if (p->values[v].producer != MW_CHIP_NONE)
            p->layers[p->values[v].producer].public.output_count++;
    for (size_t i = 0, v = 0; i < p->layer_count; i++) {
        mw_chip_layer *layer = &p->layers[i].public;
        size_t *outputs = mw__arena_alloc(&p->plan->arena, layer->output_count, sizeof *outputs, p->err);
        if (outputs == NULL)
            return MW_ERROR_MEMORY;
        for (size_t k = 0; k < layer->output_count; v++) /* values stand in the order of their layers */
            if (p->values[v].producer == i)
                outputs[k++] = v;
        layer->outputs = outputs;
    }
    return MW_OK;
}

/* ---- layers before and after ---- */

/* Each once: `from` is marked with the layer that asked last. */
static size_t list_before(const mw__chip_planner *p, size_t layer, size_t *marks, size_t *out)
{
    size_t count = 0;
    const mw_chip_layer *l = &p->layers[layer].public;
    for (size_t k = 0; k < l->input_count; k++) {
        const size_t from = p->values[l->inputs[k]].producer;
        if (from == MW_CHIP_NONE || marks[from] == layer)
            continue;
        marks[from] = layer;
        out[count++] = from;
    }
    return count;
}

static mw_status link_layers(mw__chip_planner *p)
{
    size_t *marks = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *marks, p->err);
    for (size_t i = 0; marks != NULL && i < p->layer_count; i++)
        marks[i] = MW_CHIP_NONE;
    for (size_t i = 0; marks != NULL && i < p->layer_count; i++) {
        mw__chip_plan_layer *layer = &p->layers[i];
        layer->before = mw__arena_alloc(&p->scratch, layer->public.input_count, sizeof *layer->before, p->err);
        if (layer->before == NULL)
            return MW_ERROR_MEMORY;
        layer->before_count = list_before(p, i, marks, layer->before);
        for (size_t k = 0; k < layer->before_count; k++) {
            mw__chip_plan_layer *from = &p->layers[layer->before[k]];
            layer->level = from->level + 1 > layer->level ? from->level + 1 : layer->level;
            from->next_count++;
        }
    }
    return marks != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status list_next(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->layer_count; i++) {
        p->layers[i].next = mw__arena_alloc(&p->scratch, p->layers[i].next_count, sizeof *p->layers[i].next, p->err);
        if (p->layers[i].next == NULL)
            return MW_ERROR_MEMORY;
        p->layers[i].next_count = 0;
    }
    for (size_t i = 0; i < p->layer_count; i++)
        for (size_t k = 0; k < p->layers[i].before_count; k++) {
            mw__chip_plan_layer *from = &p->layers[p->layers[i].before[k]];
            from->next[from->next_count++] = i;
        }
    return MW_OK;
}

mw_status mw__chip_plan_connect(mw__chip_planner *p)
{
    const size_t ids = p->main->graph->value_count, room = count_results(p);
    connecting c = {.p = p,
                    .of_tensor = mw__arena_alloc(&p->scratch, ids, sizeof *c.of_tensor, p->err),
                    .reads = mw__arena_alloc(&p->scratch, room, sizeof *c.reads, p->err),
                    .inputs = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *c.inputs, p->err),
                    .input_counts = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *c.input_counts, p->err)};
    p->values = mw__arena_alloc(&p->scratch, room, sizeof *p->values, p->err);
    if (mw__failed(p->err))
        return p->err->status;
    for (size_t i = 0; i < ids; i++)
        c.of_tensor[i] = MW_CHIP_NONE;
    add_values(&c);
    MW_TRY(check_extents(p));
    MW_TRY(take_inputs(&c));
    MW_TRY(make_lists(&c));
    MW_TRY(list_outputs(p));
    MW_TRY(link_layers(p));
    return list_next(p);
}
