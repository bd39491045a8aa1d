/* ONNX files: a model becomes a graph, and a graph a model.
 *
 *     mw_graph *graph = mw_graph_open_onnx("model.onnx", NULL, &err);     // "batch" is `?`: any number (function.h)
 *
 *     const mw_onnx_extent extents[] = {{"batch", 8}};
 *     mw_onnx_options options = mw_onnx_defaults();
 *     options.extents = extents;
 *     options.extent_count = 1;
 *     mw_graph *eight = mw_graph_open_onnx("model.onnx", &options, &err); // "batch" is 8
 *
 * Nodes become MIL operations that compute the same values. Shape computations over known numbers are done while the
 * file is read. Initializers become constants with their own names, dots included, so that mw_graph_trainable and
 * mw_graph_lora find them. Floats of Constant nodes become constants, too, named like the outputs of these nodes. Those
 * of bodies and functions get the name "<name>_1" if the name is taken. Inputs and outputs keep their names, except an
 * output that is also an input: its name is "<name>_output". The reader accepts operator sets 1 to 24 of the domain
 * ai.onnx; docs/onnx.md lists the operators.
 *
 * Dimensions. A dimension with a name gets its extent from the options. A dimension without a name becomes a `?` of the
 * graph; there can be at most four of them. To express results by these extents, the reader reads the model for three
 * choices of them, and compares the result with the third. The default of such an extent is 1 if the model accepts 1.
 * The reader refuses a model for which this does not work, with the reason: for example a model whose loops run once
 * for each example.
 *
 * Types. float and float16 stay as they are. double is computed as fp32. Every integer type becomes int32; values of 4,
 * 8 and 16 bits wrap around like their own type. The reader refuses a constant that int32 cannot hold, with one
 * exception: the limits of int64, which mean "to the end" in slices, become the limits of int32. It refuses strings,
 * complex numbers, bfloat16, sequences, maps and optionals if a node takes them.
 *
 * Files are untrusted. Reading allocates at most the sum of: 128 times the size of the file; 64 MiB; 8 times the bytes
 * of its initializers, each with the external data that it names; and the memory of its nodes in the graph, at most
 * 131,072 nodes. If the model has open dimensions, the last two count five times. External data are read only from the
 * folder of the file and from folders inside it.
 *
 * Threads: calls may be made from any thread at the same time. */
#ifndef MILLWRIGHT_ONNX_H
#define MILLWRIGHT_ONNX_H

#include <millwright/description.h>
#include <millwright/mil.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a named extent ("batch") is in this graph. */
typedef struct mw_onnx_extent {
    const char *name;
    int64_t extent; /* >= 0 */
} mw_onnx_extent;

/** An input that is a constant of the graph instead: one whose numbers decide shapes, say. */
typedef struct mw_onnx_constant {
    const char *input;
    const void *data; /* dense, row-major, in the element type of the file (int64_t for shapes, one byte a bool) */
    size_t size;      /* bytes */
} mw_onnx_constant;

/** How a model is read; fill with mw_onnx_defaults. Pointers are read during the call only. */
typedef struct mw_onnx_options {
    size_t struct_size;            /* set by mw_onnx_defaults */
    const mw_allocator *allocator; /* NULL = the C library's heap; must outlive the graph */
    mw_opset opset;                /* of the graph; default MW_IOS18 */
    const mw_onnx_extent *extents; /* of named dimensions */
    size_t extent_count;
    const mw_input_shape *shapes; /* of whole inputs; they go before what the file and `extents` say */
    size_t shape_count;
    const mw_onnx_constant *constants;
    size_t constant_count;
    mw_format_report *report; /* NULL = none */
    void *report_user;
    bool flexible; /* dimensions without an extent become `?` (function.h); false: they are refused. Default true */
    bool strict;   /* an extent of a dimension that no input has is refused; false: ignored. Default false */
} mw_onnx_options;

/** Returns the default options. */
MW_API mw_onnx_options mw_onnx_defaults(void);

/** Reads an ONNX file.
 *  options  NULL = mw_onnx_defaults()
 *  return   owned by the caller; NULL with err set on failure
 *  errors   MW_ERROR_FILE; MW_ERROR_FORMAT for a malformed file; MW_ERROR_UNSUPPORTED if any node is not supported (the
 *           message counts them and has the first ones, `report` is told of all), and in a build without protobuf-c;
 *           MW_ERROR_SHAPE if a dimension has neither number nor extent and cannot be left open (the message names
 *           it, the option and the reason), or shapes do not fit; MW_ERROR_ARGUMENT for options that are not made by
 *           mw_onnx_defaults, or name what is not there */
MW_API mw_graph *mw_graph_open_onnx(const char *path, const mw_onnx_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
