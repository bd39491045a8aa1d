/* Graphs, models and what a trainer has learned as files, in the format that the path ends in:
 *
 *     mw_graph_write(graph, "copy", NULL, &err);                    // MIL: copy/model.mil, copy/weights/weight.bin
 *     mw_graph_write(graph, "Copy.mlpackage", NULL, &err);          // Core ML
 *     mw_graph_write(graph, "copy.onnx", NULL, &err);               // ONNX
 *     mw_trainer_export(trainer, NULL, "Net.mlpackage", NULL, &err); // model.h
 *
 * A path that ends in ".mlpackage" is a Core ML package, in ".onnx" an ONNX file, in ".espresso.net" a netplist
 * (<millwright/chip_all.h>); any other path is a folder of MIL. Endings count whatever their case. A path that ends
 * like another file of models or data is refused: .mlmodel, .mlmodelc, .mil, .tflite, .h5, .keras, .pb, .pt, .pth,
 * .gguf, .safetensors, .npz, .npy, .zip, .json, .plist or .txt. So is the path of a file (not a folder) that ends in a
 * slash. docs/coreml.md, docs/onnx.md and docs/netplist.md list what each format takes.
 *
 * What is at the path is replaced as a whole or not at all, and everything is durable on return. The same graph gives
 * the same bytes.
 *
 * Every file that the library writes, also checkpoints, weights and reports, appears whole or not at all (temporary,
 * fsync, rename, fsync of the folder). If the path is a symbolic link, the link stays. The file it leads to is
 * replaced; if there is no such file, it is created, if its folder exists. The call returns MW_ERROR_FILE, before it
 * writes anything, if the path is something other than a regular file (a folder, device, FIFO or socket, or a link to
 * one), or another user's link in a folder that all may write to (/tmp). A file that replaces another keeps its
 * permission bits, and its owner and group where the system permits it; other hard links keep the old content.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_WRITE_H
#define MILLWRIGHT_WRITE_H

#include <millwright/description.h>
#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where the values of baked parameters come from: dense row-major data in the parameter's dtype, or NULL if unknown.
 */
typedef const void *mw_parameter_source(void *user, const char *name);

/** A node that a format or this library lacks. Strings are valid during the call that hands it out. */
typedef struct mw_format_problem {
    const char *node;      /* its name, or that of its first output */
    const char *operation; /* its operator, with the domain in front if it is not ai.onnx; "input" of an input */
    int64_t opset;         /* version of the operator set that the model asks for, or is written with */
    const char *reason;
} mw_format_problem;

/** Told of every node that is not supported, in the order of the file or graph. A node behind one that is not supported
 *  is told of only if it is at fault itself. */
typedef void mw_format_report(void *user, const mw_format_problem *problem);

/** How to write. Fill with mw_write_defaults. Pointers are read during the call only. An option that is not for the
 *  format of the path is refused. */
typedef struct mw_write_options {
    size_t struct_size;        /* set by mw_write_defaults */
    mw_opset opset;            /* MIL, Core ML: 0 = the graph's own; else the function is declared with this one */
    const char *function;      /* ONNX: which is written; NULL = "main" */
    mw_parameter_source *bake; /* not NULL: parameters and states become constants with these values. NULL: they are
                                * inputs of MIL; the other formats refuse them */
    void *bake_user;
    mw_parameter_source *replace; /* not NULL: asked for every fp16 or fp32 constant of "main" that has a name, in its
                                   * blocks too; the values it is written with, in its dtype, or NULL to keep them */
    void *replace_user;
    const mw_description *description; /* what the model says of itself. NULL: MIL has what the graph was read with, a
                                        * package its ports alone, ONNX nothing; mw_model_write takes that of the
                                        * model. A netplist has no place for it and leaves it out */
    mw_format_report *report;          /* ONNX: told of every operation that cannot be written; NULL = none */
    void *report_user;
    bool any_batch;  /* ONNX, of "main": the model takes any number of examples, whatever batch the graph has; a graph
                      * that cannot is refused. The ONNX file of a trainer without a source takes any number by itself
                      */
    bool keep_batch; /* of a trainer without a source: the model has the batch of the training */
    bool check_only; /* nothing is written, and all is checked but what values of weights decide */
} mw_write_options;

/** Returns the default options. */
MW_API mw_write_options mw_write_defaults(void);

/** Writes a graph. All formats refuse what they lack by name, before anything is replaced.
 *
 *  MIL. Folders are created; all other files in the folder stay. If the folder has neither weights/weight.bin nor a
 *  model.mil, weights go to weights/weight.bin; else to weights/weight-<16 hex digits>.bin. The text names this file.
 *  It is renamed into place last, and only then are the weights of the old text removed. So a failure (or a kill) at
 *  any moment leaves the old model or the new one. It may also leave one weight file that no text names; the next call
 *  removes it, except weights/weight.bin, which may be yours if there is no text. mw_graph_open_mil reads the old model
 *  or the new one at any moment. Another program that reads the text before the change, and the weights after it, may
 *  find no weights, but never wrong ones. A second process that writes the same folder waits for at most a minute.
 *
 *  Core ML. Every function of the graph, with its weights. The number of the format is the least that the program
 *  needs: 6 for ios15 to 10 for ios26. Nothing else than a package may be at the path; a process that is killed leaves
 *  the old package, and perhaps "<path>.<pid>-<n>.tmp". Functions and features of a description are found by name; what
 *  it does not name is described by the program: arrays, and labels of classify.
 *
 *  ONNX. One function: operator set 17 of ai.onnx, version 8 of the file format. Inputs, outputs, parameters and named
 *  constants keep their names; compressed constants are expanded. What no result needs is left out. A graph with noise,
 *  or batch norm of batches, is written as it trains: give that of mw_graph_evaluation for prediction.
 *
 *  options  NULL = mw_write_defaults()
 *  errors   MW_ERROR_UNSUPPORTED for an operation that the format or the opset lacks (of ONNX the message counts them
 *           and has the first ones, `report` is told of all), for what is no tensor, for constants of 2 GB or more in
 *           ONNX, for a netplist before mw_chip_register, and for ONNX and Core ML in a build without protobuf-c;
 *           MW_ERROR_ARGUMENT for a path with a refused ending, an option that is not for the format, a description
 *           that does not fit the ports, a parameter without a value, a function that is not there;
 *           MW_ERROR_DTYPE, MW_ERROR_SHAPE for what Core ML refuses; those of mw_graph_verify; MW_ERROR_FILE */
MW_API mw_status mw_graph_write(const mw_graph *graph, const char *path, const mw_write_options *options,
                                mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
