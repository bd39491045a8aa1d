/* Graphs as MIL: the text (model.mil) and its weight file.
 *
 *     mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
 *     mw_graph_write(graph, "copy", NULL, &err);              // copy/model.mil, copy/weights/weight.bin
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

#include <millwright/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads a model.mil and the weight files beside it.
 *  path     the text; `@model_path` in it stands for its folder
 *  options  NULL = mw_graph_defaults(); `opset` is ignored, the text says its own
 *  return   owned by the caller; NULL with err set. MW_ERROR_FORMAT carries text_line and text_column. */
MW_API mw_graph *mw_graph_open_mil(const char *path, const mw_graph_options *options, mw_error *err);

/** Parses MIL text in memory.
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

/** The text alone; blobs are printed as references. Freed with mw_string_free. */
MW_API char *mw_graph_print_mil(const mw_graph *graph, const mw_write_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
