/* Graphs as MIL: the text (model.mil) and its weight file.
 *
 *     mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
 *     mw_graph_write_mil(graph, "copy", NULL, &err);          // copy/model.mil, copy/weights/weight.bin
 *
 * Any MIL program can be read and printed. An operation that the table does not know is kept as it stands and reported
 * by what needs its meaning (verify, compile, gradients). Files are untrusted: reading allocates at most 128 times the
 * size of the text plus the size of the blobs it names.
 *
 * Large constants of a weight file of at least one megabyte are copied to a private file (in $TMPDIR, or /tmp) instead
 * of into memory, if the disk has enough space. Such a constant takes memory only when it is used, and programs
 * compiled from the graph share the file. The original may then change or disappear. The private file is removed with
 * its last user. If a process is killed, the next process that makes such a file removes what is left.
 *
 * Links. The reader follows every link in a path that you give. It does not trust a path that a text names by BLOBFILE:
 * that path must lie inside the folder of the text, and symbolic links on the way are followed only within one tree.
 * The tree is this folder. For a folder in the cache of a model hub, <store>/snapshots/<revision>/.., the tree also
 * includes the revision and <store>/blobs, where the downloader keeps the files that its snapshots link to. <store>
 * comes from the real path of the folder that you named, so no file of a model can choose it. Links that are absolute
 * or lead out of the tree, link loops, devices and FIFOs are MW_ERROR_FILE.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_MIL_H
#define MILLWRIGHT_MIL_H

#include <millwright/description.h>
#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads a model.mil and the weight files beside it.
 *  path     the text; `@model_path` in it stands for its folder
 *  options  NULL = mw_graph_defaults(); `opset` is ignored, the text says its own
 *  return   owned by the caller; NULL with err set. MW_ERROR_FORMAT carries text_line and text_column. */
MW_API mw_graph *mw_graph_open_mil(const char *path, const mw_graph_options *options, mw_error *err);

/** Parses a text in memory.
 *  folder   where BLOBFILE paths are looked up; NULL = blobs stay references without data (enough to print) */
MW_API mw_graph *mw_graph_parse_mil(const char *text, size_t size, const char *folder, const mw_graph_options *options,
                                    mw_error *err);

/** The operations of a MIL text as a part of the graph: out = f(inputs). What the constructors lack, a part of another
 *  program, or an operation in the form that a device wants, can be written so; it has the gradients of its
 *  operations, and what is lowered, compiled and printed is as if constructors had made it.
 *
 *     mw_tensor *y;
 *     mw_mil_snippet(graph,
 *                    "func f<ios15>(tensor<fp32, [4]> x) {\n"
 *                    "    tensor<fp32, [4]> y = gelu(mode = tensor<string, []>(\"EXACT\"), x = x)"
 *                    "[name = tensor<string, []>(\"y\")];\n"
 *                    "} -> (y);",
 *                    &x, 1, &y, 1);
 *
 *  text     a program, whose function is "main" or the only one, or a function alone. Its names are its own: a text may
 *           be used many times
 *  inputs   [input_count]: for its inputs, in their order; type and shape as declared (`?` takes any extent)
 *  results  [result_count]: receives its results; tensors of the graph. All NULL after an error
 *  return   the status of the error, which stays on the graph; MW_ERROR_ARGUMENT for a NULL graph
 *  errors   those of mw_graph_parse_mil and mw_graph_verify; MW_ERROR_ARGUMENT for another number of inputs or results,
 *           or a foreign tensor; MW_ERROR_SHAPE, MW_ERROR_DTYPE for an input of another type; MW_ERROR_UNSUPPORTED for
 *           a later operator set than the graph's, a constant in a file, an input that is no tensor */
MW_API mw_status mw_mil_snippet(mw_graph *graph, const char *text, mw_tensor *const *inputs, size_t input_count,
                                mw_tensor **out_results, size_t result_count);

/** Checks every operation against the table: arguments, types, shapes. Unknown operations are MW_ERROR_UNSUPPORTED.
 *  What mw_program_create writes otherwise passes, such as a computed weight of linear, where MIL wants a constant. */
MW_API mw_status mw_graph_verify(const mw_graph *graph, mw_error *err);

/** Where the values of baked parameters come from: dense row-major data in the parameter's dtype, or NULL if unknown.
 */
typedef const void *mw_parameter_source(void *user, const char *name);

/** How to write. Fill with mw_mil_write_defaults. */
typedef struct mw_mil_write_options {
    size_t struct_size;        /* set by mw_mil_write_defaults */
    mw_opset opset;            /* 0 = the graph's own; else the function is declared with this one */
    mw_parameter_source *bake; /* not NULL: parameters become constants with these values; NULL: they are inputs */
    void *bake_user;
    mw_parameter_source *replace; /* not NULL: asked for every fp16 or fp32 constant of "main" that has a name, in its
                                   * blocks too; the values it is written with, in its dtype, or NULL to keep them */
    void *replace_user;
    const mw_description *description; /* what the program says of itself: its pairs, text, version, author and license
                                        * go into the attribute buildInfo, where they replace those of the same name;
                                        * NULL = what the graph was read with */
} mw_mil_write_options;

/** Returns the default options. */
MW_API mw_mil_write_options mw_mil_write_defaults(void);

/** Writes folder/model.mil and, if any constant wants it, a weight file; folders are created.
 *
 *  The model in the folder is replaced as a whole or not at all, and all other files stay. If the folder has neither
 *  weights/weight.bin nor a model.mil, weights go to weights/weight.bin; else to weights/weight-<16 hex digits>.bin.
 *  The text names this file. It is renamed into place last, and only then are the weights of the old text removed. So a
 *  failure (or a kill) at any moment leaves the old model or the new one. It may also leave one weight file that no
 *  text names; the next call removes it, except weights/weight.bin, which may be yours if there is no text.
 *  mw_graph_open_mil reads the old model or the new one at any moment. Another program that reads the text before the
 *  change, and the weights after it, may find no weights, but never wrong ones. A second process that writes the same
 *  folder waits for at most a minute. When the call returns, everything is durable.
 *  errors  MW_ERROR_UNSUPPORTED if an operation does not exist in the opset asked for, MW_ERROR_FILE */
MW_API mw_status mw_graph_write_mil(const mw_graph *graph, const char *folder, const mw_mil_write_options *options,
                                    mw_error *err);

/** The text alone; blobs are printed as references. Freed with mw_string_free. */
MW_API char *mw_graph_print_mil(const mw_graph *graph, const mw_mil_write_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
