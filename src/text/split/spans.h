/* Where a text is cut before words become tokens: the steps of a pre-tokenizer, as tokenizer.json has them. */
#ifndef MW__TEXT_SPLIT_SPANS_H
#define MW__TEXT_SPLIT_SPANS_H

#include "text/normal/aligned.h"
#include "text/regex/regex.h"
#include "text/split/scanners.h"

typedef struct mw__cut_span {
    size_t begin, end; /* bytes of the text */
} mw__cut_span;

typedef struct mw__cut_spans {
    const mw_allocator *allocator;
    mw__cut_span *items;
    size_t count, capacity;
} mw__cut_spans;

typedef enum mw__split_kind {
    MW__SPLIT_SCANNER, /* by `scanner`: each word alone */
    MW__SPLIT_REGEX,   /* by `regex` */
    MW__SPLIT_TEXT,    /* by `content` */
    MW__SPLIT_DIGITS,  /* numbers; one by one if `single` */
    MW__SPLIT_PUNCTUATION,
    MW__SPLIT_WHITESPACE,       /* \w+|[^\w\s]+ are what stays */
    MW__SPLIT_WHITESPACE_SPLIT, /* white space goes */
    MW__SPLIT_BERT,             /* white space goes, punctuation is alone */
    MW__SPLIT_PREFIX,           /* a space before each word that has none */
    MW__SPLIT_PREFIX_ALWAYS,    /* a space before each word */
    MW__SPLIT_METASPACE         /* spaces become `content`, which may be put in front */
} mw__split_kind;

/* What becomes of what was found. */
typedef enum mw__split_behavior {
    MW__SPLIT_REMOVED,
    MW__SPLIT_ISOLATED,
    MW__SPLIT_MERGED_WITH_PREVIOUS,
    MW__SPLIT_MERGED_WITH_NEXT,
    MW__SPLIT_CONTIGUOUS
} mw__split_behavior;

typedef enum mw__prepend { MW__PREPEND_NEVER, MW__PREPEND_FIRST, MW__PREPEND_ALWAYS } mw__prepend;

typedef struct mw__split_step {
    mw__split_kind kind;
    mw__split_behavior behavior;
    bool invert; /* REGEX, TEXT: what was not found counts as found */
    bool single; /* DIGITS */
    bool cuts;   /* METASPACE: before each `content` */
    mw__prepend prepend;
    const char *content;
    mw__scanner *scanner;
    mw__regex *regex; /* owned by who made the step */
} mw__split_step;

/* Cuts the text; steps may change it.
 *  starts  whether it begins the whole text (MW__PREPEND_FIRST)
 *  out     empty; filled */
mw_status mw__cut_run(const mw__split_step *steps, size_t count, bool starts, mw__aligned *text, mw__cut_spans *out);

mw_status mw__cut_spans_add(mw__cut_spans *spans, size_t begin, size_t end, mw_error *err);
void mw__cut_spans_deinit(mw__cut_spans *spans);

/* The next place that a step finds at or after `at`, before `end`; false = none. */
bool mw__cut_find(const mw__split_step *step, const mw__aligned *text, size_t at, size_t end, mw__cut_span *out);
/* Steps that change the text. */
mw_status mw__cut_rewrite(const mw__split_step *step, bool starts, mw__aligned *text, mw__cut_spans *spans);

#endif
