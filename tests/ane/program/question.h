/* Open questions about a chip: a small program, and what each answer would settle. `check_ane --only questions` runs
 * them; docs/chip_reports.md lists them. */
#ifndef TESTS_ANE_QUESTION_H
#define TESTS_ANE_QUESTION_H

#include "section.h"

#include <stdbool.h>

typedef enum question_kind {
    QUESTION_PRODUCT, /* sum of x[i] w[i], by conv (1x1), by matmul and by linear: three items */
    QUESTION_CONV,    /* the same by conv alone */
    QUESTION_WINDOW,  /* the same by a conv of 3x3, x being the pixels of its first channel */
    QUESTION_SUM,     /* one number of x along an axis, by `text`: reduce_sum */
    QUESTION_EACH,    /* a function of each x: "relu(x = x)" */
    QUESTION_PAIR,    /* of each x and w: "add(x = x, y = w)" */
    QUESTION_TEXT,    /* statements of any kind, y = .. */
    QUESTION_TAKEN    /* whether statements compile for the chip; nothing runs */
} question_kind;

enum { QUESTION_VALUES = 4, QUESTION_READINGS = 4 };

/* An answer, and what follows from it. */
typedef struct question_reading {
    float value[QUESTION_VALUES]; /* as many as `outputs` */
    const char *settles; /* "product_ceiling on, product_drops off": names of src/rules/arithmetic.def; or NULL */
    const char *says;    /* in words; or NULL */
} question_reading;

typedef struct question {
    const char *name, *asks, *source;
    question_kind kind;
    const float *x, *w; /* [count]; w NULL = ones */
    size_t count;
    size_t length;                       /* of the sum; 0 = 64 for products, count for others */
    size_t spread;                       /* from one x to the next in it; 0 = 1 */
    float fill;                          /* between and behind them */
    float bias;                          /* of a conv, linear; 0 = none */
    float near;                          /* how far, relatively, an answer may be from a reading; 0 = equal */
    size_t outputs;                      /* 0 = 1 */
    const char *text, *signature, *also; /* also: another result, which is not read */
    question_reading readings[QUESTION_READINGS];
} question;

/* One item: a question, and the operation that it goes by. */
typedef struct question_item {
    const question *question;
    question_kind kind; /* of QUESTION_PRODUCT its operation: */
    const char *by;     /* "conv", "matmul", "linear"; else NULL */
} question_item;

/* Rows of questions_products.c and the other tables; NULL behind the last. */
const question *question_at(size_t index);
extern const question question_products[], question_functions[], question_limits[];

/* False behind the last. */
bool question_item_at(size_t index, question_item *out);
void question_item_name(const question_item *item, char *out, size_t size);

/* ---- the program of an item ---- */

typedef struct question_program {
    char *text;
    float *x, *w; /* what is fed; w NULL where it is a constant */
    size_t x_count, w_count;
} question_program;

/* False without memory. */
bool question_program_make(const question_item *item, question_program *out);
void question_program_free(question_program *program);

/* The table of docs/chip_reports.md to standard output. */
int question_list(void);

#endif
