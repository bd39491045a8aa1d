/* The graph that a run trains: built, brought to its shapes, through a file and to what is trained of it. */
#include "case.h"
#include "support/on_engine.h"

#include "graph/transform/extents/generalize.h"

#include <stdlib.h>
#include <string.h>

static bool has(const run *r, option o) { return !r->plain && option_in(r->set, o); }

/* ---- shapes ---- */

static mw_graph *build(const run *r, int examples, mw_error *err)
{
    const bool tunes = option_in(r->set, OPTION_TUNE_ALL) || option_in(r->set, OPTION_TUNE_FIXED);
    const net_form form = {
        .examples = examples, .recompute = has(r, OPTION_RECOMPUTE), .fixed_is_trained = r->plain && tunes};
    return net_build(r->n, &form, err);
}

size_t run_shapes(const net *n, int examples, mw_input_shape out[2])
{
    out[0] = (mw_input_shape){"x", MW_SHAPE(examples, n->steps, n->features)};
    out[1] = (mw_input_shape){"tokens", MW_SHAPE(examples, n->steps)};
    return net_has(n, NET_EMBED) ? 2 : 1;
}

static mw_graph *flexible(const run *r, mw_error *err)
{
    mw_graph *witness[MW__WITNESSES] = {NULL}, *made = NULL;
    mw_input_shape shapes[2];
    bool all = true;
    for (int k = 0; k < MW__WITNESSES; k++) {
        witness[k] = build(r, 4 + 2 * k, err);
        all = all && witness[k] != NULL;
    }
    mw_graph *open = all ? mw__graph_publish(mw__generalize(witness, err), err) : NULL;
    if (open != NULL)
        made = mw_graph_specialize(open, shapes, run_shapes(r->n, r->n->examples, shapes), err);
    mw_graph_destroy(open);
    for (int k = 0; k < MW__WITNESSES; k++)
        mw_graph_destroy(witness[k]);
    return made;
}

/* ---- files ---- */

/* The first values of parameters and states, from a program that holds them. */
typedef struct baker {
    mw_program *program;
    float *kept[128];
    int count;
} baker;

static const void *bake(void *user, const char *name)
{
    baker *b = user;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(b->program, i, &port); i++)
        if (port.is_parameter && strcmp(port.name, name) == 0 && b->count < 128) {
            const size_t count = (size_t)mw_shape_count(port.shape);
            float *values = calloc(count + 1, sizeof *values);
            b->kept[b->count++] = values;
            return mw_program_read(b->program, name, MW_F32, values, count, NULL) == MW_OK ? values : NULL;
        }
    return NULL;
}

static mw_graph *read_package(mw_error *err)
{
    mw_coreml *package = mw_coreml_open("source.mlpackage", NULL, err);
    const mw_graph *inside = mw_coreml_graph(package, err);
    mw_graph *copy = inside != NULL ? mw_graph_function(inside, NULL, err) : NULL;
    mw_coreml_destroy(package);
    return copy;
}

static mw_graph *through_file(const run *r, const mw_graph *graph, mw_error *err)
{
    mw_graph *evaluated = mw_graph_evaluation(graph, err), *read = NULL;
    baker b = {.program = engine_compile(evaluated, MW_DEVICE_CPU, 1, err)};
    if (option_in(r->set, OPTION_FROM_MIL)) {
        mw_write_options o = mw_write_defaults();
        o.bake = bake;
        o.bake_user = &b;
        mw_graph_write(evaluated, "source", &o, err);
        read = mw_graph_open_mil("source/model.mil", NULL, err);
    } else if (option_in(r->set, OPTION_FROM_PACKAGE)) {
        mw_write_options o = mw_write_defaults();
        o.bake = bake;
        o.bake_user = &b;
        mw_graph_write(evaluated, "source.mlpackage", &o, err);
        read = read_package(err);
    } else {
        mw_write_options o = mw_write_defaults();
        o.bake = bake;
        o.bake_user = &b;
        mw_graph_write(evaluated, "source.onnx", &o, err);
        read = mw_graph_open_onnx("source.onnx", NULL, err);
    }
    for (int i = 0; i < b.count; i++)
        free(b.kept[i]);
    mw_program_destroy(b.program);
    mw_graph_destroy(evaluated);
    return read;
}

/* ---- what is trained ---- */

static mw_graph *tune(const run *r, const mw_graph *graph, mw_error *err)
{
    static const char *const every[] = {"*"}, *const fixed[] = {"fixed_*"}, *const head[] = {"head?bias"};
    mw_input_shape shapes[2];
    const size_t count = has(r, OPTION_SHAPES) ? run_shapes(r->n, r->n->examples, shapes) : 0;
    if (option_in(r->set, OPTION_LORA)) {
        mw_lora_options o = mw_lora_defaults(every, 1);
        o.rank = 2;
        o.alpha = 2.0F;
        o.skip_fixed = true;
        o.full_patterns = head;
        o.full_count = 1;
        o.shapes = shapes;
        o.shape_count = count;
        return mw_graph_lora(graph, &o, err);
    }
    mw_tune_options o = mw_tune_defaults(option_in(r->set, OPTION_TUNE_ALL) ? every : fixed, 1);
    o.shapes = shapes;
    o.shape_count = count;
    return mw_graph_trainable(graph, &o, err);
}

static void replace(mw_graph **graph, mw_graph *by)
{
    mw_graph_destroy(*graph);
    *graph = by;
}

void run_make_graph(run *r)
{
    static const option_set files = 1ULL << OPTION_FROM_MIL | 1ULL << OPTION_FROM_PACKAGE | 1ULL << OPTION_FROM_ONNX;
    static const option_set tunes = 1ULL << OPTION_TUNE_ALL | 1ULL << OPTION_TUNE_FIXED;
    mw_error *err = &r->out->err;
    const int n = r->n->examples;
    const bool other = has(r, OPTION_REBATCH) || has(r, OPTION_SHAPES);
    r->graph = has(r, OPTION_FLEXIBLE) ? flexible(r, err) : build(r, other ? n + 1 : n, err);
    if (has(r, OPTION_REBATCH) && r->graph != NULL)
        replace(&r->graph, mw_graph_rebatch(r->graph, n, err));
    if (!r->plain && (r->set & files) != 0 && r->graph != NULL)
        replace(&r->graph, through_file(r, r->graph, err));
    if (r->graph != NULL && (option_in(r->set, OPTION_LORA) || (!r->plain && (r->set & tunes) != 0))) {
        r->source = r->graph;
        r->graph = tune(r, r->source, err);
    }
    if (r->graph == NULL)
        return;
    r->z = mw_graph_output_at(r->graph, 0);
    r->loss = net_add_loss(r->n, r->z);
    mw_graph_check(r->graph, err);
}
