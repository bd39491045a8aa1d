/* Inference as those who have a model run it: the network is written as a file, in another process, and read back, so
 * that its weights are constants. */
#include "run.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_model(const zoo_options *o, const zoo_net *net, const char *path, mw_error *err)
{
    mw_tensor *result;
    zoo_form form = zoo_make(o, net, &result, err);
    mw_graph *graph = err->status == MW_OK ? mw_graph_evaluation(form.graph, err) : NULL;
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    mw_model *model = graph != NULL ? mw_model_create(graph, &options, err) : NULL;
    if (model != NULL)
        mw_model_write(model, path, NULL, err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    mw_graph_destroy(form.graph);
}

static void write_inputs(const zoo_form *form, const char *path, mw_error *err)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s.inputs", path);
    FILE *file = fopen(name, "w");
    if (file == NULL) {
        *err = (mw_error){.status = MW_ERROR_FILE};
        snprintf(err->message, sizeof err->message, "%.400s cannot be written", name);
        return;
    }
    for (int i = 0; i < form->input_count; i++) {
        const mw_shape shape = mw_tensor_shape(mw_graph_find(form->graph, form->input[i].name));
        fprintf(file, "%s %d", form->input[i].name, (int)form->input[i].below);
        for (int axis = 0; axis < shape.rank; axis++)
            fprintf(file, " %d", (int)shape.dim[axis]);
        fprintf(file, "\n");
    }
    fclose(file);
}

void zoo_export(const zoo_options *o, const zoo_net *net, mw_error *err)
{
    mw_tensor *result;
    zoo_form form = zoo_make(o, net, &result, err);
    zoo_emit_size(o, &form, err);
    write_model(o, net, o->onnx, err);
    if (err->status == MW_OK)
        write_inputs(&form, o->onnx, err);
    mw_graph_destroy(form.graph);
}

/* In a process of its own, so that what writing takes is not in peak_mb. */
static void write_apart(const zoo_options *o, const zoo_net *net, const char *path, mw_error *err)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        write_model(o, net, path, err);
        if (err->status != MW_OK)
            fprintf(stderr, "%s\n", err->message);
        _exit(err->status != MW_OK);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        *err = (mw_error){.status = MW_ERROR_FILE};
        snprintf(err->message, sizeof err->message, "%s could not be written", net->name);
    }
}

/* The mean of the result's magnitudes, which onnxruntime.mjs prints, too. */
static void emit_result(const zoo_options *o, mw_program *program, const mw_graph *graph, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(mw_graph_find(graph, "result")));
    float *values = bench_alloc(count, sizeof *values);
    double sum = 0.0;
    mw_program_read(program, "result", MW_F32, values, count, err);
    for (size_t i = 0; i < count; i++)
        sum += values[i] < 0.0f ? -(double)values[i] : (double)values[i];
    if (err->status == MW_OK)
        bench_emit(o->bench.workload, "result", sum / (double)count);
    free(values);
}

static void run_model(const zoo_options *o, const zoo_form *form, const mw_graph *graph, mw_error *err)
{
    zoo_feeds feeds = zoo_draw(form);
    const double products = zoo_products(form->graph, err), start = bench_now();
    const mw_compile_options compile = bench_compiling(&o->bench);
    mw_program *program = mw_program_create(graph, &compile, err);
    if (program != NULL) {
        bench_emit(o->bench.workload, "compile_ms", 1e3 * (bench_now() - start));
        for (size_t i = 0; i < feeds.count; i++) {
            const mw_feed *feed = &feeds.feed[i];
            mw_program_write(program, feed->name, feed->dtype, feed->data, feed->count, err);
        }
        zoo_steps(o, NULL, program, &feeds, products, err);
        emit_result(o, program, graph, err);
    }
    mw_program_destroy(program);
    zoo_free(&feeds);
}

void zoo_infer(const zoo_options *o, const zoo_net *net, mw_error *err)
{
    char folder[] = "/tmp/millwright-zoo-XXXXXX", path[64], command[96];
    if (mkdtemp(folder) == NULL)
        return;
    snprintf(path, sizeof path, "%s/net.%s", folder, o->model);
    write_apart(o, net, path, err);
    mw_tensor *result;
    zoo_form form = zoo_make(o, net, &result, err);
    zoo_emit_size(o, &form, err);
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    mw_model *model = err->status == MW_OK ? mw_model_open(path, &options, err) : NULL;
    if (model != NULL)
        run_model(o, &form, mw_model_get_info(model).graph, err);
    mw_model_destroy(model);
    mw_graph_destroy(form.graph);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays behind\n", folder);
}
