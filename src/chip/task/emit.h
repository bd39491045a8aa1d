/* Writing H13 programs of one operation: what it becomes, first as words, then as a file.
 *
 * All of it follows the files that compiler 4 wrote of relu, sigmoid, sum, concat, gemm and conv: for those shapes it
 * is equal to them byte for byte. words.def lists what is copied and what is guessed. */
#ifndef MW__CHIP_TASK_EMIT_H
#define MW__CHIP_TASK_EMIT_H

#include "base/memory/alloc.h"
#include "chip/task/coefficients.h"
#include "chip/task/task.h"
#include "graph/ir/names.h"

enum {
    MW__EMIT_WORDS = 157, /* of a task of compiler 4: all registers of all units */
    MW__EMIT_INPUTS = 2,
    MW__EMIT_NEXT = 0x300,                              /* bytes from a task to the next */
    MW__EMIT_TEXT = MW__EMIT_NEXT + 4 * MW__EMIT_WORDS, /* of two tasks */
    MW__EMIT_BASE_OUTPUT = 4, /* base registers: the output, then inputs, the last one first */
};

typedef enum mw__emit_kind {
    MW__EMIT_RELU,
    MW__EMIT_TABLE,   /* sigmoid */
    MW__EMIT_PRODUCT, /* a convolution with step 1, a gemm */
    MW__EMIT_PLANAR,  /* two operands, element by element */
    MW__EMIT_CONCAT   /* of channels: a task for each of two inputs */
} mw__emit_kind;

typedef struct mw__emit_extent {
    int64_t c, h, w;
} mw__emit_extent;

typedef struct mw__emit_port {
    const char *name;
    mw__emit_extent extent;
} mw__emit_port;

/* What is to be done. */
typedef struct mw__emit_operation {
    mw__emit_kind kind;
    mw__emit_port inputs[MW__EMIT_INPUTS], output;
    int input_count;
    bool relu; /* of the result of a product */
    /* of two operands */
    unsigned planar; /* PE operation: 0 add, 1 mul, 2 max, 3 min */
    bool negative;   /* x - y */
    int first;       /* which input is x; of a concat, which is the first part */
    /* of a product */
    int64_t kernel_h, kernel_w, pad_top, pad_left;
    const uint16_t *weights; /* [outputs, inputs, kernel_h, kernel_w] */
    const uint16_t *bias;    /* [outputs]; NULL: none */
} mw__emit_operation;

/* A function of one operation, and what its ports and constants are kept in. */
typedef struct mw__emit_source {
    mw__names names;
    mw__arena arena;
    mw__emit_operation op;
} mw__emit_source;

/* Reads it; *source is 0 before, and is given to mw__emit_source_deinit also after a failure.
 * errors  MW_ERROR_UNSUPPORTED, naming the operation, for what is not written as one task; MW_ERROR_DTYPE, _SHAPE */
mw_status mw__emit_read(mw__emit_source *source, const mw__function *function, mw_error *err);
void mw__emit_source_deinit(mw__emit_source *source);

/* Tasks and what they read beside their ports. */
typedef struct mw__emit_program {
    uint8_t text[MW__EMIT_TEXT];
    size_t text_size, tasks;
    uint8_t *constants; /* of the allocator; tiles one behind the other */
    size_t constants_size;
    size_t tile_at[MW__TILES];
    unsigned tiles; /* that are live; a table counts once */
    bool is_table;
    bool sampled; /* a public file has all of its words */
} mw__emit_program;

/* Bytes from row to row, from channel to channel, of all, of a port as it lies in memory. */
int64_t mw__emit_row(const mw__emit_extent *extent);
int64_t mw__emit_plane(const mw__emit_extent *extent);
int64_t mw__emit_bytes(const mw__emit_extent *extent);

/* Makes the task; program->constants is freed with mw__free.
 * errors  MW_ERROR_UNSUPPORTED for what no single tile holds; MW_ERROR_MEMORY */
mw_status mw__emit_task(const mw__emit_operation *operation, const mw_allocator *allocator, mw__emit_program *out,
                        mw_error *err);

/* The rows of words.def, for documents; false behind the last. */
typedef struct mw__emit_word {
    mw__register_id id;
    const char *tasks; /* "all" ..; NULL: a guess */
    uint32_t value;
    const char *rule, *seen;
} mw__emit_word;
bool mw__emit_word_at(size_t index, mw__emit_word *out);

#endif
