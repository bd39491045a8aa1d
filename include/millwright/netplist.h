/* Netplists (.espresso.net, version 1.0.10): networks as Apple's ANE compiler takes them beside MIL, a property list of
 * units with weight files beside it.
 *
 *     mw_graph_write_netplist(graph, "net.plist", NULL, &err);              // and net.plist.weights.0, .1
 *     mw_graph *graph = mw_graph_open_netplist("net.plist", NULL, &err);    // to be compiled and run as any graph
 *
 * Functions are procedures of it, operations units. One table says what is what, both ways (docs/netplist.md lists it).
 * Everything in a netplist is fp16 and has five axes: batch, channels, depth, height, width. A tensor of lower rank
 * stands in the last of them ([3, 4] is 3 rows of 4), so what is read has rank 4, or 5 if something has a depth.
 *
 * Unverified: what is written here was never given to Apple's compiler. Keys, types and bit patterns are those with
 * which ANEForge authors networks that its author has run, and of the one file of Apple's own that is public (version
 * 1.0.9, in tinygrad's history), which is read as well; what is our choice is listed in docs/netplist.md.
 *
 * Files are untrusted: nesting, size and entities are checked before the property list is parsed (libplist), weight
 * files are opened in the folder of the file alone. Reading takes at most 64 times the size of the file, 64 KiB, and 12
 * times the size of its weight files; libplist takes its part from the C library's heap.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: calls may be made from any thread at the same time. */
#ifndef MILLWRIGHT_NETPLIST_H
#define MILLWRIGHT_NETPLIST_H

#include <millwright/mil.h>
#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What cannot be written, or read. Strings are valid during the call that hands it out. */
typedef struct mw_netplist_problem {
    const char *name;      /* of the unit, or of the operation's result */
    const char *operation; /* MIL's name, or the unit's type */
    const char *reason;
} mw_netplist_problem;

/** Told of every operation or unit that is not supported, in their order. */
typedef void mw_netplist_report(void *user, const mw_netplist_problem *problem);

/** How to read and write. Fill with mw_netplist_defaults. Pointers are read during the call only. */
typedef struct mw_netplist_options {
    size_t struct_size;
    const mw_allocator *allocator; /* reading: of the graph; NULL = the C library's heap */
    bool as_it_is;                 /* writing: the graph as it stands, which must be fp16; false: the form that
                                    * mw_program_create writes for the chip */
    mw_chip chip;                  /* writing: of that form; default MW_CHIP_AUTO, what every chip takes */
    mw_parameter_source *bake;     /* writing: values of parameters and states, in their dtype, which become constants;
                                    * NULL: they are inputs */
    void *bake_user;
    mw_netplist_report *report; /* NULL = none */
    void *report_user;
    bool check_only; /* writing: everything is checked, and no file is written; default false */
} mw_netplist_options;

/** Returns the default options. */
MW_API mw_netplist_options mw_netplist_defaults(void);

/** Writes every function of the graph as a procedure, and the constants into <path>.weights.1 (<path>.weights.0 is
 *  empty, as ANEForge has it). The files are replaced one by one, the netplist last; the same graph gives the same
 *  bytes.
 *  options  NULL = mw_netplist_defaults()
 *  errors   MW_ERROR_UNSUPPORTED if any operation has no unit (the message counts them and has the first ones, `report`
 *           is told of all), for ports that are not floating point, for rank above 5, and in a build without libplist;
 *           MW_ERROR_SHAPE for `?` extents; MW_ERROR_ARGUMENT for a parameter that `bake` does not know; those of
 *           mw_graph_verify; MW_ERROR_FILE */
MW_API mw_status mw_graph_write_netplist(const mw_graph *graph, const char *path, const mw_netplist_options *options,
                                         mw_error *err);

/** Reads a netplist in XML, with its weight files. The procedure of a file that has one becomes "main"; several keep
 *  their names (mw_graph_function).
 *  options  NULL = mw_netplist_defaults()
 *  return   owned by the caller; NULL with err set
 *  errors   MW_ERROR_FILE; MW_ERROR_FORMAT for what is no such property list, saying unit and key;
 *           MW_ERROR_UNSUPPORTED for units without a row and those that are refused by name (`report` is told of all),
 *           for binary property lists, versions other than 1.0.10 and 1.0.9, and in a build without libplist;
 *           MW_ERROR_SHAPE if units do not fit their inputs */
MW_API mw_graph *mw_graph_open_netplist(const char *path, const mw_netplist_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
