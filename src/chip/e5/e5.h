/* E5 dispatch descriptors inside: one struct for what was read and what was made, and the schema.
 *
 * The slots below are our reading: the root's are published, of the others only which tables there are. docs/e5.md says
 * which is which. */
#ifndef MW__CHIP_E5_E5_H
#define MW__CHIP_E5_E5_H

#include "base/text/text.h"
#include "chip/e5/flat.h"

#include <millwright/e5.h>

struct mw_e5 {
    const mw_allocator *allocator;
    mw__arena arena;
    mw_e5_program program;
};

enum { MW__E5_VERSION = 4, MW__E5_LAYOUT = 152 /* bytes of the tensor record in a file: 18 u64, an i32, padding */ };

enum { MW__E5_SYMBOL_NAMES, MW__E5_BUILD_INFO, MW__E5_SECTIONS, MW__E5_FORMAT_VERSION };  /* the root */
enum { MW__E5_PAIRS };                                                                    /* build info */
enum { MW__E5_KEY, MW__E5_VALUE };                                                        /* one pair */
enum { MW__E5_SECTION_NAME, MW__E5_SECTION_DATA };                                        /* section */
enum { MW__E5_FUNCTION_NAME, MW__E5_PORTS, MW__E5_ALIASES, MW__E5_BLOCKS };               /* function */
enum { MW__E5_OPERATIONS };                                                               /* block */
enum { MW__E5_OPERATION_NAME, MW__E5_OPERATION_KIND, MW__E5_ARG_FRAME, MW__E5_OP_ATTRS }; /* operation */
enum { MW__E5_OPERANDS };                                                                 /* argument frame */
enum { MW__E5_OPERAND_SYMBOL, MW__E5_OPERAND_OUTPUT, MW__E5_OPERAND_LAYOUT };             /* operand, port */
enum { MW__E5_ALIAS_NAME, MW__E5_ALIAS_SYMBOL, MW__E5_ALIAS_OFFSET };                     /* alias */
enum { MW__E5_ATTRS_KIND, MW__E5_ATTRS_TABLE };                                           /* union of attributes */
enum { MW__E5_CAST_FROM, MW__E5_CAST_TO };                                                /* of a cast */
enum { MW__E5_PROCEDURE, MW__E5_CONTAINER, MW__E5_SEGMENT };                              /* of an inference */

/* An empty one; NULL without memory. */
mw_e5 *mw__e5_make(const mw_allocator *allocator, mw_error *err);

/* Fills the program from a file, which is copied into the arena (read.c, read_function.c). */
mw_status mw__e5_read_program(mw_e5 *e5, const void *data, size_t size, mw_error *err);
/* What stands in the sections: function, ports, operations. What is not understood becomes a note. */
mw_status mw__e5_read_function(mw_e5 *e5, mw_error *err);
/* Notes a reason; the first 64 are kept. */
mw_status mw__e5_note(mw_e5 *e5, mw_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The symbol of that index; NULL if there is none. */
const char *mw__e5_symbol(const mw_e5_program *program, uint32_t index);

/* The bytes of a program (write.c). Its symbols keep their places; those that its tables name and it lacks follow, and
 * its sections are made anew. */
mw_status mw__e5_encode(const mw_e5_program *program, mw__text *out, mw_error *err);

#endif
