/* Which kind of file is at a path, and the graph and description in it. */
#include "base/text/string.h"
#include "format/given.h"
#include "graph/ir/build_info.h"
#include "runtime/model/model_object.h"
#include "runtime/program/program_folder.h"

#include <millwright/function.h>
#include <millwright/mil.h>
#include <string.h>
#include <sys/stat.h>

/* ---- functions ---- */

/* Of several functions the one that is asked for, else the one that the file runs. */
static const char *function_name(const mw_model *model, const mw_model_options *options)
{
    if (options->compile != NULL && options->compile->function != NULL)
        return options->compile->function;
    const mw_description *d = model->description;
    return d != NULL && d->standard < d->function_count ? d->functions[d->standard].name : NULL;
}

static void find_description(mw_model *model, const char *name)
{
    const mw_description *d = model->description;
    for (size_t i = 0; d != NULL && i < d->function_count; i++)
        if (d->function_count == 1 || (name != NULL && strcmp(d->functions[i].name, name) == 0))
            model->function = &d->functions[i];
}

/* The graph that was read is the model's own if it is that function alone. */
static mw_status take_function(mw_model *model, const mw_graph *read, const mw_model_options *options, mw_error *err)
{
    const char *name = function_name(model, options);
    find_description(model, name);
    const char *only = mw_graph_function_at(read, 1) == NULL ? mw_graph_function_at(read, 0) : NULL;
    if (only != NULL && strcmp(only, "main") == 0 && (name == NULL || name[0] == '\0' || strcmp(name, "main") == 0)) {
        model->graph = read;
        return MW_OK;
    }
    mw_graph *function = mw_graph_function(read, name, err);
    mw_graph_destroy(model->owned);
    model->graph = model->owned = function;
    return function != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
}

/* Of formats whose description is in the graph that was read, or that have none. */
static mw_status take_owned(mw_model *model, const mw_model_options *options, mw_error *err)
{
    if (model->owned == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    MW_TRY(mw__build_info_describe(model->owned, &model->arena, &model->description, err));
    return take_function(model, model->owned, options, err);
}

/* ---- formats ---- */

static mw_status read_coreml(mw_model *model, const char *path, const mw_graph_options *how,
                             const mw_model_options *options, mw_error *err)
{
    model->coreml = mw_coreml_open(path, how, err);
    const mw_graph *graph = model->coreml != NULL ? mw_coreml_graph(model->coreml, err) : NULL;
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    model->description = mw_coreml_get_info(model->coreml).description;
    return take_function(model, graph, options, err);
}

static mw_status read_onnx(mw_model *model, const char *path, const mw_graph_options *how,
                           const mw_model_options *options, mw_error *err)
{
    mw_onnx_options onnx = options->onnx != NULL ? *options->onnx : mw_onnx_defaults();
    onnx.allocator = how->allocator;
    model->owned = mw_graph_open_onnx(path, &onnx, err);
    const bool open = err->status == MW_ERROR_SHAPE || err->status == MW_ERROR_UNSUPPORTED;
    if (model->owned == NULL && open && onnx.shape_count == 0 && options->shape_count > 0) {
        mw_error_clear(err); /* what cannot stay open is read for the shapes that are asked for */
        onnx.shapes = options->shapes;
        onnx.shape_count = options->shape_count;
        model->owned = mw_graph_open_onnx(path, &onnx, err);
    }
    return take_owned(model, options, err);
}

static mw_status read_mil(mw_model *model, const char *path, const mw_graph_options *how,
                          const mw_model_options *options, mw_error *err)
{
    model->owned = mw_graph_open_mil(path, how, err);
    return take_owned(model, options, err);
}

static mw_status read_netplist(mw_model *model, const char *path, const mw_graph_options *how,
                               const mw_model_options *options, mw_error *err)
{
    const mw__given_netplist *given = mw__given_get_netplist(path, err);
    if (given == NULL)
        return mw__status_or(err, MW_ERROR_UNSUPPORTED);
    model->owned = given->read(path, how->allocator, err);
    return take_owned(model, options, err);
}

/* ---- kinds ---- */

static bool is_there(const mw_model *model, const char *folder, const char *name)
{
    struct stat entry;
    char *path = mw__path_join(model->allocator, folder, name, NULL);
    const bool there = path != NULL && stat(path, &entry) == 0;
    mw__free(model->allocator, path);
    return there;
}

static mw_status read_folder(mw_model *model, const char *path, const mw_graph_options *how,
                             const mw_model_options *options, mw_error *err)
{
    if (is_there(model, path, "Manifest.json") || is_there(model, path, "coremldata.bin"))
        return read_coreml(model, path, how, options, err);
    if (!is_there(model, path, "model.mil"))
        return mw__fail(
            err, MW_ERROR_FORMAT,
            "\"%.200s\" is a folder with neither Manifest.json (.mlpackage), coremldata.bin (.mlmodelc) "
            "nor model.mil%s",
            path,
            is_there(model, path, "saved_model.pb")
                ? "; it is of TensorFlow: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"
                : "");
    char *text = mw__path_join(model->allocator, path, "model.mil", err);
    const mw_status status = text != NULL ? read_mil(model, text, how, options, err) : MW_ERROR_MEMORY;
    mw__free(model->allocator, text);
    return status;
}

/* What others write, by its ending, and how it becomes one of ours. */
static const struct {
    const char *ending, *hint;
} strangers[] = {
    {".mlmodel", "an old Core ML model (neuralNetwork): convert it again from its source with "
                 "coremltools.convert(.., convert_to=\"mlprogram\")"},
    {".tflite", "TensorFlow Lite: python -m tf2onnx.convert --tflite FILE --output model.onnx"},
    {".h5", "HDF5, as Keras writes it: load it with Keras, then tf2onnx.convert.from_keras(model, output_path=..)"},
    {".hdf5", "HDF5, as Keras writes it: load it with Keras, then tf2onnx.convert.from_keras(model, output_path=..)"},
    {".keras", "a Keras model: load it with Keras, then tf2onnx.convert.from_keras(model, output_path=..)"},
    {".pb", "TensorFlow: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"},
    {".mat", "a MATLAB file: a network leaves MATLAB by exportONNXNetwork, arrays by scipy.io.loadmat and numpy.savez"},
    {".pt", "a PyTorch file, which holds weights: torch.onnx.export writes the network with them"},
    {".pth", "a PyTorch file, which holds weights: torch.onnx.export writes the network with them"},
    {".safetensors", "a file of weights alone; mw_tensors_open and mw tensors read it"},
    {".gguf", "a file of weights alone; mw_tensors_open and mw tensors read it"},
};

static const char *hint_for(const char *path)
{
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        if (mw__string_ends(path, strangers[i].ending))
            return strangers[i].hint;
    return NULL;
}

static mw_status refuse_model(const char *path, mw_error *err)
{
    const char *hint = hint_for(path);
    if (hint != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.150s\" is %s", path, hint);
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.200s\" is no model that is known by its name: a folder .mlpackage or .mlmodelc, one with "
                    "model.mil, a file .mil, .onnx or .espresso.net",
                    path);
}

mw_status mw__model_read(mw_model *model, const char *path, const mw_model_options *options, mw_error *err)
{
    struct stat entry;
    mw_graph_options how = mw_graph_defaults();
    how.allocator = model->allocator;
    if (stat(path, &entry) == 0 && S_ISDIR(entry.st_mode))
        return read_folder(model, path, &how, options, err);
    if (mw__string_ends(path, ".onnx"))
        return read_onnx(model, path, &how, options, err);
    if (mw__string_ends(path, ".mil"))
        return read_mil(model, path, &how, options, err);
    if (mw__string_ends(path, ".espresso.net"))
        return read_netplist(model, path, &how, options, err);
    return refuse_model(path, err);
}
