/* From cuts to functions and their calls: which pieces are equal, what they hand on, and where that is kept. */
#include "graph/transform/segment/segment.h"

#include "graph/ir/ir.h"
#include "graph/transform/clone/clone.h"
#include "graph/transform/segment/segment_parts.h"

#include <millwright/graph.h>
#include <stdio.h>
#include <string.h>

typedef struct segmenter {
    mw__sequence s;
    mw__segmentation *out;
    mw__segment_form *forms; /* by piece */
    size_t form_count;
    const mw__segment_form **first; /* by function: the first of its pieces */
    bool **handed;                  /* by function, by result: some piece hands it on */
    bool **lifted;                  /* likewise: a constant that is not the same in all pieces */
    size_t *place;                  /* by value: where it is kept, or NOWHERE */
    uint32_t *last;                 /* by value: the last piece that reads it */
    bool *read;                     /* by value: by another piece */
    bool *free;                     /* by buffer in between */
    size_t port_count;              /* of the whole */
} segmenter;

#define NOWHERE SIZE_MAX

/* ---- which functions ---- */

static mw_status add_function(segmenter *g, const mw__segment_form *form, mw_error *err)
{
    const size_t index = g->out->segment_count++;
    g->first[index] = form;
    g->handed[index] = mw__arena_alloc(g->s.arena, form->result_count, sizeof(bool), err);
    g->lifted[index] = mw__arena_alloc(g->s.arena, form->result_count, sizeof(bool), err);
    return g->handed[index] != NULL && g->lifted[index] != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void note_lifted(segmenter *g, const mw__segment_form *form)
{
    const mw__segment_form *first = g->first[form->segment];
    for (size_t k = 0; k < form->result_count; k++)
        if (form->liftable[form->results[k]->id] &&
            !mw__segment_same_payload(form->results[k]->payload, first->results[k]->payload))
            g->lifted[form->segment][k] = true;
}

static mw_status find_functions(segmenter *g, mw_error *err)
{
    mw__segmentation *out = g->out;
    out->segments = mw__arena_alloc(&out->arena, g->form_count, sizeof *out->segments, err);
    g->first = mw__arena_alloc(g->s.arena, g->form_count, sizeof *g->first, err);
    g->handed = mw__arena_alloc(g->s.arena, g->form_count, sizeof *g->handed, err);
    g->lifted = mw__arena_alloc(g->s.arena, g->form_count, sizeof *g->lifted, err);
    if (out->segments == NULL || g->first == NULL || g->handed == NULL || g->lifted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < g->form_count; i++) {
        mw__segment_form *form = &g->forms[i];
        while (form->segment < out->segment_count && !mw__segment_forms_equal(form, g->first[form->segment]))
            form->segment++;
        if (form->segment < out->segment_count)
            note_lifted(g, form);
        else
            MW_TRY(add_function(g, form, err));
    }
    return MW_OK;
}

/* ---- what is handed on ---- */

static mw_status note_ports(segmenter *g, mw_error *err)
{
    const mw__block *body = g->s.function->body;
    const size_t values = g->s.function->graph->value_count;
    g->port_count = body->input_count + body->output_count;
    g->place = mw__arena_alloc(g->s.arena, values, sizeof *g->place, err);
    g->last = mw__arena_alloc(g->s.arena, values, sizeof *g->last, err);
    g->read = mw__arena_alloc(g->s.arena, values, sizeof *g->read, err);
    if (g->place == NULL || g->last == NULL || g->read == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < values; i++)
        g->place[i] = NOWHERE;
    for (size_t i = 0; i < body->input_count; i++)
        g->place[body->inputs[i]->id] = i;
    for (size_t i = 0; i < body->output_count; i++) {
        size_t *place = &g->place[body->outputs[i]->id];
        if (*place != NOWHERE)
            return mw__fail(err, MW_ERROR_STATE, "segments: output %zu is an input or another output", i);
        *place = body->input_count + i;
    }
    return MW_OK;
}

/* Equal pieces hand on the same results: what one of them need not goes to a buffer that nobody reads. */
static void note_handed(segmenter *g)
{
    for (size_t i = 0; i < g->form_count; i++)
        for (size_t k = 0; k < g->forms[i].port_count; k++) {
            g->read[g->forms[i].ports[k]->id] = true;
            g->last[g->forms[i].ports[k]->id] = (uint32_t)i;
        }
    for (size_t i = 0; i < g->form_count; i++) {
        const mw__segment_form *form = &g->forms[i];
        for (size_t k = 0; k < form->result_count; k++) {
            const mw_tensor *value = form->results[k];
            const uint32_t from = g->s.producer[value->id];
            if (!g->s.nodes[from].copied && (g->read[value->id] || g->place[value->id] != NOWHERE))
                g->handed[form->segment][k] = true;
        }
    }
}

/* ---- graphs ---- */

static const char *port_name(segmenter *g, char kind, size_t index, mw_error *err)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "%c%zu", kind, index);
    return mw__arena_string(&g->out->arena, name, (size_t)length, err);
}

static mw_status make_inputs(segmenter *g, mw__segment *segment, const mw__segment_form *form, mw__clone *clone,
                             mw_error *err)
{
    for (size_t i = 0; i < form->port_count; i++) {
        const mw_tensor *value = form->ports[i];
        const char *name = port_name(g, 'i', i, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        segment->ports[i] = name;
        mw__clone_set(clone, value, mw_input(clone->to, name, value->type->dtype, value->type->shape));
    }
    return mw_graph_check(clone->to, err);
}

/* Constants that differ, as inputs behind the others. */
static mw_status make_lifted(segmenter *g, mw__segment *segment, const mw__segment_form *form, mw__clone *clone,
                             mw_error *err)
{
    for (size_t k = 0; k < form->result_count; k++) {
        const mw_tensor *value = form->results[k];
        if (!g->lifted[form->segment][k])
            continue;
        const char *name = port_name(g, 'c', segment->input_count, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        segment->ports[segment->input_count++] = name;
        mw__clone_set(clone, value, mw_input(clone->to, name, value->type->dtype, value->type->shape));
    }
    return mw_graph_check(clone->to, err);
}

static mw_status make_outputs(segmenter *g, mw__segment *segment, const mw__segment_form *form, mw__clone *clone,
                              mw_error *err)
{
    for (size_t k = 0; k < form->result_count; k++) {
        if (!g->handed[form->segment][k])
            continue;
        const char *name = port_name(g, 'o', segment->output_count, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        segment->ports[segment->input_count + segment->output_count++] = name;
        mw_output(mw__clone_get(clone, form->results[k]), name);
    }
    return mw_graph_check(clone->to, err);
}

static mw_status fill_graph(segmenter *g, mw__segment *segment, const mw__segment_form *form, mw_error *err)
{
    mw__clone clone = {0};
    mw_status status = mw__clone_begin(&clone, g->s.function, segment->graph, err);
    if (status == MW_OK)
        status = make_inputs(g, segment, form, &clone, err);
    if (status == MW_OK)
        status = make_lifted(g, segment, form, &clone, err);
    for (size_t i = 0; i < form->op_count && status == MW_OK; i++) {
        const mw__op *op = form->ops[i];
        const bool constant = op->row != NULL && op->row->id == MW__OP_const;
        segment->op_count += !constant;
        if (constant && mw__clone_get(&clone, op->results[0]) != NULL)
            continue; /* lifted */
        status = constant ? mw__clone_op(&clone, op, err) : mw__clone_op_declared(&clone, op, NULL, err);
    }
    if (status == MW_OK)
        status = make_outputs(g, segment, form, &clone, err);
    mw__clone_deinit(&clone);
    return status;
}

static mw_status make_graph(segmenter *g, size_t index, mw_error *err)
{
    mw__segment *segment = &g->out->segments[index];
    const mw__segment_form *form = g->first[index];
    const mw_graph *from = g->s.function->graph;
    mw_graph_options options = mw_graph_defaults();
    options.allocator = from->allocator;
    options.opset = g->s.function->opset;
    segment->graph = mw__graph_make(&options, NULL);
    if (segment->graph == NULL)
        return mw__fail(err, MW_ERROR_MEMORY, "no memory for a segment of the step");
    segment->graph->lowering = from->lowering;
    segment->input_count = form->port_count;
    segment->ports =
        mw__arena_alloc(&g->out->arena, form->port_count + form->result_count, sizeof *segment->ports, err);
    return segment->ports != NULL ? fill_graph(g, segment, form, err) : MW_ERROR_MEMORY;
}

/* ---- calls ---- */

/* The smallest buffer that is free and not more than twice as large; else a new one. */
static mw_status take_buffer(segmenter *g, const mw_tensor *value, size_t *out_place, mw_error *err)
{
    mw__segmentation *out = g->out;
    size_t bytes, best = NOWHERE;
    if (!mw__type_bytes(value->type, &bytes))
        return mw__fail(err, MW_ERROR_STATE, "segments: a value that is handed on has no size");
    for (size_t b = 0; b < out->between_count; b++)
        if (g->free[b] && out->between[b] >= bytes && out->between[b] / 2 <= bytes &&
            (best == NOWHERE || out->between[b] < out->between[best]))
            best = b;
    if (best == NOWHERE) {
        best = out->between_count++;
        out->between[best] = bytes;
    }
    g->free[best] = false;
    *out_place = g->port_count + best;
    return MW_OK;
}

static void give_back(segmenter *g, size_t place)
{
    if (place >= g->port_count)
        g->free[place - g->port_count] = true;
}

static mw_status place_lifted(segmenter *g, const mw__segment_form *form, size_t *places, mw_error *err)
{
    mw__segmentation *out = g->out;
    size_t input = form->port_count;
    for (size_t k = 0; k < form->result_count; k++) {
        const mw__payload *payload = form->results[k]->payload;
        if (!g->lifted[form->segment][k])
            continue;
        void *bytes = mw__arena_alloc(&out->arena, payload->size, 1, err);
        if (bytes == NULL)
            return MW_ERROR_MEMORY;
        memcpy(bytes, payload->data, payload->size);
        places[input++] = g->port_count + out->between_count;
        out->contents[out->between_count] = bytes;
        out->between[out->between_count++] = payload->size;
    }
    return MW_OK;
}

static mw_status place_outputs(segmenter *g, const mw__segment_form *form, size_t *places, mw_error *err)
{
    size_t output = g->out->segments[form->segment].input_count;
    for (size_t k = 0; k < form->result_count; k++) {
        if (!g->handed[form->segment][k])
            continue;
        const mw_tensor *value = form->results[k];
        places[output] = g->place[value->id];
        if (places[output] == NOWHERE)
            MW_TRY(take_buffer(g, value, &places[output], err));
        g->place[value->id] = places[output++];
    }
    return MW_OK;
}

/* What nobody reads any more, and what nobody reads at all. */
static void free_buffers(segmenter *g, size_t piece, const size_t *places)
{
    const mw__segment_form *form = &g->forms[piece];
    for (size_t i = 0; i < form->port_count; i++)
        if (g->last[form->ports[i]->id] == piece)
            give_back(g, places[i]);
    for (size_t k = 0; k < form->result_count; k++)
        if (g->handed[form->segment][k] && !g->read[form->results[k]->id])
            give_back(g, g->place[form->results[k]->id]);
}

static mw_status make_call(segmenter *g, size_t piece, mw_error *err)
{
    mw__segmentation *out = g->out;
    const mw__segment_form *form = &g->forms[piece];
    const mw__segment *segment = &out->segments[form->segment];
    size_t *places = mw__arena_alloc(&out->arena, segment->input_count + segment->output_count, sizeof *places, err);
    if (places == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < form->port_count; i++) {
        places[i] = g->place[form->ports[i]->id];
        if (places[i] == NOWHERE)
            return mw__fail(err, MW_ERROR_STATE, "segments: a value is used before it is there");
    }
    MW_TRY(place_lifted(g, form, places, err));
    MW_TRY(place_outputs(g, form, places, err));
    free_buffers(g, piece, places);
    if (segment->output_count > 0) /* else nobody needs it */
        out->calls[out->call_count++] = (mw__segment_call){.segment = form->segment, .places = places};
    return MW_OK;
}

static mw_status make_calls(segmenter *g, mw_error *err)
{
    mw__segmentation *out = g->out;
    size_t most = 0;
    for (size_t i = 0; i < g->form_count; i++)
        most += out->segments[g->forms[i].segment].input_count + out->segments[g->forms[i].segment].output_count;
    out->calls = mw__arena_alloc(&out->arena, g->form_count, sizeof *out->calls, err);
    out->between = mw__arena_alloc(&out->arena, most, sizeof *out->between, err);
    out->contents = mw__arena_alloc(&out->arena, most, sizeof *out->contents, err);
    g->free = mw__arena_alloc(g->s.arena, most, sizeof *g->free, err);
    if (out->calls == NULL || out->between == NULL || out->contents == NULL || g->free == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < g->form_count; i++)
        MW_TRY(make_call(g, i, err));
    return MW_OK;
}

/* ---- the whole ---- */

static void count_operations(segmenter *g)
{
    for (size_t i = 0; i < g->s.node_count; i++) {
        const mw__op *op = g->s.nodes[i].op;
        g->out->op_count += op->row == NULL || op->row->id != MW__OP_const;
    }
}

static mw_status make_segments(segmenter *g, mw_error *err)
{
    MW_TRY(mw__segment_order(&g->s, err));
    MW_TRY(mw__segment_cut(&g->s, err));
    count_operations(g);
    g->form_count = g->s.cut_count - 1;
    if (g->form_count < 2) {
        g->out->call_count = 1;
        return MW_OK;
    }
    g->forms = mw__arena_alloc(g->s.arena, g->form_count, sizeof *g->forms, err);
    if (g->forms == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__segment_forms(&g->s, g->forms, err));
    MW_TRY(find_functions(g, err));
    MW_TRY(note_ports(g, err));
    note_handed(g);
    for (size_t i = 0; i < g->out->segment_count; i++)
        MW_TRY(make_graph(g, i, err));
    return make_calls(g, err);
}

mw_status mw__segment_make(const mw__function *function, const mw__segment_options *options, mw__segmentation *out,
                           mw_error *err)
{
    const mw_allocator *allocator = function->graph->allocator;
    mw__arena scratch;
    *out = (mw__segmentation){0};
    mw__arena_init(&out->arena, allocator);
    mw__arena_init(&scratch, allocator);
    segmenter g = {.s = {.arena = &scratch, .function = function, .options = options}, .out = out};
    const mw_status status = make_segments(&g, err);
    mw__arena_deinit(&scratch);
    return status;
}

void mw__segmentation_deinit(mw__segmentation *segmentation)
{
    for (size_t i = 0; i < segmentation->segment_count; i++)
        mw__graph_free(segmentation->segments[i].graph);
    mw__arena_deinit(&segmentation->arena);
    *segmentation = (mw__segmentation){0};
}
