/* The printer's state, shared by print_program.c (program to statement), print_attributes.c and
 * print_value.c (types and literals). */
#ifndef MW__MIL_TEXT_PRINT_H
#define MW__MIL_TEXT_PRINT_H

#include "base/text/text.h"
#include "graph/ir/build_info.h"
#include "graph/ir/names.h"
#include "mil/weights/blob.h"
#include <millwright/mil.h>

/* A type of a tensor as it is spelled. */
typedef struct mw__printed_type {
    const mw__type *type;
    size_t size;
    char text[48];
} mw__printed_type;

enum { MW__PRINT_TYPES = 64 };

typedef struct mw__printer {
    const mw_graph *graph;
    const mw_write_options *options;
    mw__text *out;
    mw__style style;
    bool built;                              /* made by constructors: headers and order are ours */
    bool move_blobs;                         /* constants of other weight files go to ours too */
    mw__blob_list *blobs;                    /* what goes to the weight file, in text order */
    mw__arena *arena;                        /* lives until the blobs are written */
    const mw__names *names;                  /* of the function that is printed */
    mw__pairs said;                          /* what the description of the options says of the program */
    mw__printed_type types[MW__PRINT_TYPES]; /* printed before, by address */
    bool lost;                               /* a value without a name was printed: the text is no program */
    mw_error *err;
} mw__printer;

/* Name of the weight file below the folder of the text. */
#define MW__WEIGHT_FILE MW__BLOB_FOLDER "/weight.bin"

/* The whole program; `blobs` and `arena` are the caller's. */
mw_status mw__print_program(const mw_graph *graph, const mw_write_options *options, bool move_blobs, mw__text *out,
                            mw__names *names, mw__blob_list *blobs, mw__arena *arena, mw_error *err);

/* [a = .., b = ..] in byte order; nothing at all for no attributes. One without a value is buildInfo. */
mw_status mw__print_attributes(mw__printer *printer, const mw__attribute *attributes, size_t count);
/* With a buildInfo of what is said of the program; a program of ours has one anyway. */
mw_status mw__print_program_attributes(mw__printer *printer);

void mw__print_type(mw__printer *printer, const mw__type *type);
/* type "(" payload ")" */
mw_status mw__print_literal(mw__printer *printer, const mw__payload *payload);
void mw__print_string_literal(mw__printer *printer, const char *text);
/* Between quotes, with what a text cannot have as it is escaped. */
void mw__print_quoted(mw__text *out, const char *text);

#endif
