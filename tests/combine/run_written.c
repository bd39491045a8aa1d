/* What a trained net predicts after it was written and read back. */
#include "case.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdio.h>

static bool has(const run *r, option o) { return option_in(r->set, o); }

static size_t results(const run *r) { return (size_t)(r->n->examples * NET_CLASSES); }

static mw_program *compile(const run *r, const mw_graph *graph, mw_trainer *state_of)
{
    mw_compile_options o = run_compile_options(r->set);
    o.share.trainer = state_of;
    return graph != NULL ? mw_program_create(graph, &o, &r->out->err) : NULL;
}

static void run_program(const run *r, mw_program *program, const char *result, const char *name)
{
    mw_error *err = &r->out->err;
    net_feeds f;
    if (program == NULL)
        return;
    net_feed(&f, r->n, r->n->examples, 9);
    mw_program_write(program, "x", MW_F32, f.x, f.feeds[0].count, err);
    if (net_has(r->n, NET_EMBED))
        mw_program_write(program, "tokens", MW_I32, f.tokens, f.feeds[2].count, err);
    mw_program_run(program, err);
    mw_program_read(program, result, MW_F32, outcome_add(r->out, name, results(r)), results(r), err);
    mw_program_destroy(program);
}

static const char *result_of(const mw_graph *graph) { return mw_tensor_name(mw_graph_output_at(graph, 0)); }

/* What noise a file makes is its own. */
static bool is_comparable(const run *r) { return !net_has(r->n, NET_NOISE); }

static void predict_graph(const run *r, mw_graph *graph, const char *name)
{
    if (graph != NULL && is_comparable(r))
        run_program(r, compile(r, graph, NULL), result_of(graph), name);
    mw_graph_destroy(graph);
}

/* The order in which examples come says nothing about what each of them gives. */
static void predict_one_by_one(const run *r)
{
    mw_error *err = &r->out->err;
    mw_model_options o = mw_model_defaults();
    const mw_compile_options compile = run_compile_options(r->set);
    net_feeds f;
    o.compile = &compile;
    o.batch = 1;
    mw_model *model = mw_model_open("written", &o, err);
    mw_predictor *predictor = mw_predictor_create(model, err);
    const char *name = model != NULL ? result_of(mw_model_get_info(model).graph) : "";
    net_feed(&f, r->n, r->n->examples, 9);
    const mw_result result = {name, MW_F32, outcome_add(r->out, "written ~ one by one", results(r)), results(r)};
    mw_predictor_predict(predictor, &f.batch, &result, 1, err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

/* A copy at the batch of the training: what others use takes one example, unless the program is held at its batch. */
static mw_graph *at_batch(const run *r, const mw_graph *graph)
{
    mw_error *err = &r->out->err;
    if (graph == NULL)
        return NULL;
    const int64_t has_now = mw_tensor_shape(mw_graph_find(graph, "x")).dim[0];
    return has_now == r->n->examples ? mw_graph_function(graph, NULL, err)
                                     : mw_graph_rebatch(graph, r->n->examples, err);
}

static void predict_package(const run *r)
{
    mw_error *err = &r->out->err;
    mw_trainer_export(r->trainer, NULL, "written.mlpackage", NULL, err);
    mw_coreml *package = mw_coreml_open("written.mlpackage", NULL, err);
    predict_graph(r, at_batch(r, mw_coreml_graph(package, err)), "written package");
    mw_coreml_destroy(package);
}

static void predict_onnx(const run *r)
{
    mw_error *err = &r->out->err;
    mw_input_shape shapes[2];
    mw_trainer_export(r->trainer, NULL, "written.onnx", NULL, err);
    mw_onnx_options o = mw_onnx_defaults();
    o.shapes = shapes;
    /* one extent of two inputs is two names in the file, which stay open only one by one */
    o.shape_count = net_has(r->n, NET_EMBED) ? run_shapes(r->n, r->n->examples, shapes) : 0;
    mw_graph *graph = mw_graph_open_onnx("written.onnx", &o, err);
    mw_program *program = compile(r, graph, NULL);
    if (program != NULL && mw_tensor_shape(mw_graph_find(graph, "x")).dim[0] == MW_DIM_UNKNOWN) {
        mw_program_set_shapes(program, shapes, run_shapes(r->n, r->n->examples + 2, shapes), err);
        mw_program_set_shapes(program, shapes, run_shapes(r->n, r->n->examples, shapes), err);
    }
    if (program != NULL)
        run_program(r, program, result_of(graph), "written ~ onnx");
    mw_graph_destroy(graph);
}

/* The evaluation of the graph that was trained, as a program that reads the parameters of the trainer. */
static void predict_beside(const run *r)
{
    mw_error *err = &r->out->err;
    mw_graph *graph = mw_graph_evaluation(r->graph, err);
    mw_program *program = compile(r, graph, r->trainer);
    if (program != NULL)
        run_program(r, program, result_of(graph), "written beside");
    mw_graph_destroy(graph);
}

/* Into the source, which has other batches where shapes were asked for. */
static void predict_tuned(const run *r)
{
    mw_error *err = &r->out->err;
    mw_graph *source = mw_graph_evaluation(r->source, err);
    mw_trainer_export(r->trainer, source, "tuned", NULL, err);
    mw_graph_destroy(source);
    predict_graph(r, mw_graph_open_mil("tuned/model.mil", NULL, err), "written ~ tuned");
}

void run_predict_written(run *r)
{
    mw_error *err = &r->out->err;
    mw_write_options options = mw_write_defaults();
    options.keep_batch = true;
    if (has(r, OPTION_TO_MIL) || has(r, OPTION_MODEL))
        mw_trainer_export(r->trainer, NULL, "written", &options, err);
    if (has(r, OPTION_TO_MIL))
        predict_graph(r, mw_graph_open_mil("written/model.mil", NULL, err), "written mil");
    if (has(r, OPTION_TO_PACKAGE))
        predict_package(r);
    if (has(r, OPTION_TO_ONNX))
        predict_onnx(r);
    if (has(r, OPTION_TUNED) && r->source != NULL)
        predict_tuned(r);
    if (has(r, OPTION_MODEL))
        predict_one_by_one(r);
    if (has(r, OPTION_STATE_OF))
        predict_beside(r);
}
