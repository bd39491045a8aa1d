/* Segments that are computed again, in every copy that a graph goes through before it trains: the losses, parameters,
 * states, evaluation, predictions and written models of the same network without segments. */
#include "runtime/files.h"
#include "runtime/program/marked_nets.h"
#include "runtime/trainer/object/trainer_access.h"
#include "runtime/trainer/trainer_memory.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/on_engine.h"

#include <string.h>

enum { STEPS = 4, RESULTS = MARKED_ROWS * MARKED_OUT };

/* What else a trainer is asked for. */
typedef struct setting {
    const char *name;
    mw_device device;
    int accumulate, dispatch_steps, segments;
    const char *frozen;
    size_t pieces; /* into which memory_limit would cut the forward pass; 0 = 1 */
    bool written;  /* and written as files */
} setting;

typedef struct outcome {
    marked_graph net;
    mw_trainer *trainer;
    float losses[STEPS], predicted[RESULTS];
    double evaluated;
} outcome;

/* ---- training ---- */

static mw_trainer *create(const marked_graph *net, const setting *s, mw_error *err)
{
    mw_parameter_group group;
    mw_trainer_options options = mw_trainer_defaults(net->loss, mw_sgd(0.2f));
    options.compile = engine_options(s->device, 1);
    options.prediction = net->z;
    options.accumulate = s->accumulate;
    options.dispatch_steps = s->dispatch_steps;
    options.memory.segments = s->segments;
    if (s->frozen != NULL) {
        group = mw_parameter_group_frozen(s->frozen);
        options.groups = &group;
        options.group_count = 1;
    }
    return s->pieces > 1 ? mw__trainer_create_in(&options, s->pieces, NULL, err) : mw_trainer_create(&options, err);
}

static void train(outcome *o, const setting *s, mw_error *err)
{
    marked_batch batches[STEPS];
    mw_batch list[STEPS];
    for (int i = 0; i < STEPS; i++) {
        marked_fill(&batches[i], i);
        list[i] = batches[i].batch;
    }
    if (s->dispatch_steps > 1)
        mw_trainer_step_many(o->trainer, list, STEPS, o->losses, err);
    for (int i = 0; i < STEPS && s->dispatch_steps <= 1; i++)
        mw_trainer_step(o->trainer, &list[i], &o->losses[i], err);
    mw_trainer_predict(o->trainer, &list[1], MW_F32, o->predicted, RESULTS, err);
    const mw_column columns[2] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(MARKED_WIDTH), .data = batches[2].x},
                                  {.name = "t", .dtype = MW_F32, .shape = MW_SHAPE(MARKED_OUT), .data = batches[2].t}};
    mw_dataset *data = mw_dataset_create(columns, 2, MARKED_ROWS, false, err);
    double metric;
    evaluated(o->trainer, data, &o->evaluated, &metric, err);
    mw_dataset_destroy(data);
}

static void begin(outcome *o, const marked_net *net, marking how, const setting *s, mw_error *err)
{
    *o = (outcome){.net = marked_build(net, how, err)};
    if (o->net.loss != NULL)
        o->trainer = create(&o->net, s, err);
    if (o->trainer != NULL)
        train(o, s, err);
}

static void end(outcome *o)
{
    mw_trainer_destroy(o->trainer);
    marked_destroy(&o->net);
}

/* ---- comparing ---- */

static bool near(const float *a, const float *b, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * (1.0 + fabs((double)a[i]))))
            return false;
    return true;
}

static void compare_states(const outcome *a, const outcome *b, double tolerance, const char *what)
{
    const mw__state_set *left = mw__trainer_state(a->trainer), *right = mw__trainer_state(b->trainer);
    CHECK_INT(left->count, right->count);
    for (size_t i = 0; i < left->count && i < right->count; i++) {
        const mw__state_entry *l = &left->entries[i], *r = &right->entries[i];
        const bool same = l->dtype == MW_F32 ? near(l->data, r->data, l->size / sizeof(float), tolerance)
                                             : l->dtype == MW_F16 || memcmp(l->data, r->data, l->size) == 0;
        check_note(same, __FILE__, __LINE__, "%s: \"%s\" differs", what, l->name);
    }
}

static void compare(const outcome *a, const outcome *b, double tolerance, const char *what)
{
    check_note(near(a->losses, b->losses, STEPS, tolerance), __FILE__, __LINE__, "%s: losses %g %g %g, not %g %g %g",
               what, (double)b->losses[1], (double)b->losses[2], (double)b->losses[3], (double)a->losses[1],
               (double)a->losses[2], (double)a->losses[3]);
    check_note(near(a->predicted, b->predicted, RESULTS, tolerance), __FILE__, __LINE__, "%s: predictions differ",
               what);
    check_note(fabs(a->evaluated - b->evaluated) <= tolerance * (1.0 + fabs(a->evaluated)), __FILE__, __LINE__,
               "%s: evaluated %g, not %g", what, b->evaluated, a->evaluated);
    compare_states(a, b, tolerance, what);
}

/* ---- what is written ---- */

/* A model whose examples are independent is written for one. */
static bool run_graph(const mw_graph *graph, const setting *s, float out[RESULTS], mw_error *err)
{
    mw_program *program = graph != NULL ? engine_compile(graph, s->device, 1, err) : NULL;
    const int64_t rows = mw_tensor_shape(mw_graph_find(graph, "x")).dim[0] == MARKED_ROWS ? MARKED_ROWS : 1;
    marked_batch batch;
    marked_fill(&batch, 1);
    for (int64_t r = 0; program != NULL && r < MARKED_ROWS; r += rows) {
        mw_program_write(program, "x", MW_F32, batch.x + r * MARKED_WIDTH, (size_t)rows * MARKED_WIDTH, err);
        mw_program_run(program, err);
        mw_program_read(program, "z", MW_F32, out + r * MARKED_OUT, (size_t)rows * MARKED_OUT, err);
    }
    mw_program_destroy(program);
    return err->status == MW_OK;
}

typedef enum format { AS_MIL, AS_TUNED, AS_PACKAGE, AS_ONNX, FORMATS } format;

static mw_graph *read_package(const char *path, mw_error *err)
{
    mw_coreml *model = mw_coreml_open(path, NULL, err);
    const mw_graph *graph = model != NULL ? mw_coreml_graph(model, err) : NULL;
    mw_graph *copy = graph != NULL ? mw_graph_flatten(graph, err) : NULL;
    mw_coreml_destroy(model);
    return copy;
}

/* A device may know less than the format. */
static mw_graph *write_and_read(const outcome *o, format as, mw_error *err)
{
    mw_graph *graph = NULL;
    remove_model("written");
    if (as == AS_PACKAGE)
        return mw_trainer_export(o->trainer, NULL, scratch("written.mlpackage"), NULL, err) == MW_OK
                   ? read_package(scratch("written.mlpackage"), err)
                   : NULL;
    if (as == AS_TUNED)
        mw_trainer_export(o->trainer, NULL, scratch("written"), NULL, err);
    else
        mw_trainer_export(o->trainer, NULL, scratch("written"), NULL, err);
    graph = err->status == MW_OK ? mw_graph_open_mil(scratch("written/model.mil"), NULL, err) : NULL;
    if (as != AS_ONNX || graph == NULL)
        return graph;
    const char *path = scratch("written.onnx");
    mw_graph *again = mw_graph_write(graph, path, NULL, err) == MW_OK ? mw_graph_open_onnx(path, NULL, err) : NULL;
    mw_graph_destroy(graph);
    return again;
}

/* What draws numbers gives others each time. */
static void check_written(const outcome *o, const setting *s, bool draws, double tolerance, const char *what)
{
    static const char *const names[FORMATS] = {"MIL", "fine-tuned MIL", "a package", "ONNX"};
    const int formats = draws ? 1 : FORMATS;
    for (int as = 0; as < formats; as++) {
        mw_error err = {0};
        float got[RESULTS] = {0};
        mw_graph *graph = write_and_read(o, (format)as, &err);
        if (strstr(err.message, "built without protobuf-c") != NULL)
            continue;
        if (!draws)
            run_graph(graph, s, got, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s, as %s: %s", what, names[as], err.message);
        check_note(draws || near(o->predicted, got, RESULTS, tolerance), __FILE__, __LINE__,
                   "%s: %s predicts %g, not %g", what, names[as], (double)got[0], (double)o->predicted[0]);
        mw_graph_destroy(graph);
    }
}

/* A checkpoint is of the network, whatever is computed again. */
static void check_saved(const outcome *o, const marked_net *net, const setting *s, const char *what)
{
    outcome other;
    mw_error err = {0};
    marked_batch batch;
    float losses[2] = {0};
    setting open = *s;
    open.pieces = 0;
    marked_fill(&batch, 5);
    begin(&other, net, MARK_NONE, &open, &err);
    mw_trainer_save(o->trainer, scratch("state"), NULL, &err);
    mw_trainer_load(other.trainer, scratch("state"), NULL, &err);
    mw_trainer_step(o->trainer, &batch.batch, &losses[0], &err);
    mw_trainer_step(other.trainer, &batch.batch, &losses[1], &err);
    check_note(err.status == MW_OK && near(losses, losses + 1, 1, 1e-5), __FILE__, __LINE__,
               "%s: the next loss is %g, loaded %g: %s", what, (double)losses[0], (double)losses[1], err.message);
    end(&other);
}

/* ---- the tests ---- */

static void check_marking(const outcome *plain, const marked_net *net, marking how, const setting *s, double tolerance)
{
    outcome marked;
    mw_error err = {0};
    char what[120];
    snprintf(what, sizeof what, "%s, %s, marking %d", net->name, s->name, (int)how);
    begin(&marked, net, how, s, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", what, err.message)) {
        CHECK((mw_trainer_get_info(marked.trainer).recomputation.stretches > 0) == (s->pieces > 1));
        compare(plain, &marked, tolerance, what);
        if (s->written && how != MARK_PARTS && how != MARK_LEAVES) {
            check_written(&marked, s, net->draws, tolerance, what);
            check_saved(&marked, net, s, what);
        }
    }
    end(&marked);
}

static void check_network(const marked_net *net, const setting *s, double tolerance)
{
    outcome plain;
    mw_error err = {0};
    setting open = *s;
    open.pieces = 0;
    begin(&plain, net, MARK_NONE, &open, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s, %s: %s", net->name, s->name, err.message))
        for (int how = s->pieces > 1 ? MARK_NONE : MARK_WHOLE; how < MARKINGS; how++)
            check_marking(&plain, net, (marking)how, s, tolerance);
    end(&plain);
}

static void check_setting(const setting *s, double tolerance)
{
    for (const marked_net *net = marked_nets; net->name != NULL; net++)
        check_network(net, s, tolerance);
}

static void test_segments_change_nothing_of_what_is_trained_evaluated_and_written(void)
{
    check_setting(&(setting){.name = "as it is", .written = true}, 1e-5);
}

static void test_what_memory_limit_cuts_changes_nothing_either(void)
{
    check_setting(&(setting){.name = "3 pieces", .pieces = 3, .written = true}, 1e-5);
    check_setting(&(setting){.name = "16 pieces", .pieces = 16}, 1e-5);
}

static void test_segments_beside_everything_else_that_a_trainer_does(void)
{
    check_setting(&(setting){.name = "accumulate", .accumulate = 2}, 1e-5);
    check_setting(&(setting){.name = "dispatch", .dispatch_steps = 2}, 1e-5);
    check_setting(&(setting){.name = "step in programs", .segments = 3}, 1e-5);
    check_setting(&(setting){.name = "frozen", .frozen = "*0*"}, 1e-5);
}

static void test_segments_on_the_ane(void)
{
    check_setting(&(setting){.name = "ANE", .device = MW_DEVICE_ANE}, 2e-2);
    check_setting(&(setting){.name = "ANE, 3 pieces", .device = MW_DEVICE_ANE, .pieces = 3}, 2e-2);
}

int main(void)
{
    RUN(test_segments_change_nothing_of_what_is_trained_evaluated_and_written);
    RUN(test_what_memory_limit_cuts_changes_nothing_either);
    RUN(test_segments_beside_everything_else_that_a_trainer_does);
    RUN(test_segments_on_the_ane);
    return check_finish();
}
