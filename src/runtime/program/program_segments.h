/* A program of several functions: the legal graph is cut, what is equal is compiled once, and a chain of operations
 * stands for the one operation. To the user it is one program with the ports and the text of the whole. */
#ifndef MW__RUNTIME_PROGRAM_PROGRAM_SEGMENTS_H
#define MW__RUNTIME_PROGRAM_PROGRAM_SEGMENTS_H

#include "graph/transform/segment/segment.h"
#include "runtime/program/program_object.h"

typedef struct mw__program_segments {
    mw__segmentation cut;
    mw__chain chain;
    mw__chain_function *functions;
    mw__chain_call *calls;
    mw__program_folder *folders; /* [functions] of a library that may open them later */
} mw__program_segments;

/* Makes program->segments if the request allows several functions and it is worth it. The ports are described. */
mw_status mw__program_cut(mw_program *program, const mw__program_request *request, const mw_graph *legal,
                          mw_error *err);
/* Compiles them and makes the dispatch. */
mw_status mw__program_compile_segments(mw_program *program, const mw__program_request *request,
                                       const mw__dispatch_options *options, mw_error *err);
/* After the dispatch. None is fine. */
void mw__program_release_segments(mw_program *program);

#endif
