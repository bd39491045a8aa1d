/* From MIL text to a library of planned functions. */
#ifndef MW__ENGINE_COMPILE_COMPILE_H
#define MW__ENGINE_COMPILE_COMPILE_H

#include "engine/compile/compiled.h"
#include "engine/compile/source/source.h"
#include "engine/core/object.h"
#include "engine/core/segmenter.h"
#include "graph/ir/device_traits.h"
#include "passes/log.h"
#include "rules/chips.h"

/* Who hears of the passes; `call` NULL = nobody. */
typedef struct mw__compile_report {
    mw__pass_report *call;
    void *user;
    const char *why; /* or NULL */
    bool texts;
} mw__compile_report;

typedef struct mw__compile_options {
    const mw__config *config; /* of the compiler */
    uint64_t mask;
    const mw__chip_row *chip;         /* whose limits hold for mask 4; NULL = those of every chip */
    bool owned;                       /* the folder is the caller's alone: weights are mapped */
    uint64_t threads;                 /* 0 = one per processor; that of the configuration goes before */
    const char *const *entry_points;  /* names of the functions that are compiled */
    size_t entry_point_count;         /* 0 = all */
    const char *const *mutable_paths; /* of weight files, as the text has them: their constants are exchanged */
    size_t mutable_path_count;
    mw__segmenter segmenter; /* of the analytics */
    mw__compile_report report;
} mw__compile_options;

/* How many a program is compiled for. */
int mw__compile_threads(const mw__compile_options *options);

/* Immutable and shared by threads. */
typedef struct mw__library {
    mw__object object;
    mw_graph *graph;  /* of the text: holds names and constants */
    mw_graph *stored; /* copies of its functions (fp16_storage.h) */
    mw_graph *
        *lowered;      /* by function: the one without lists and states (graph/transform/lower.h); NULL = it has none */
    mw_graph **joined; /* by function: with what the passes recognize and absorb have left; or NULL */
    mw__open_weights *open; /* by function */
    mw__arena arena;
    mw__program *programs;
    size_t count;
    const mw__device_traits *device; /* that was chosen */
    const mw__chip_row *chip;        /* of the options, as the next two */
    uint64_t mask;
    mw__segmenter segmenter;
    const char *refusal;                               /* of the ANE, where the CPU took its place; or NULL */
    char *bundle;                                      /* its folder in a cache (engine/cache); NULL = it has none */
    const void *build_info, *analytics, **metadata;    /* once they were asked for (surface/surface_bundle.c) */
    void (*forget)(const struct mw__library *library); /* called before it goes; or NULL */
} mw__library;

/* `path`: a model.mil, or its folder. NULL with err set on failure. */
mw__library *mw__library_compile(const char *path, const mw__compile_options *options, mw_error *err);
/* The same of a text that was read. */
mw__library *mw__library_compile_source(const mw__source *source, const mw__compile_options *options, mw_error *err);

/* Leaves only those functions of a graph that the options name, in the order of the text. */
mw_status mw__keep_entry_points(mw_graph *graph, const mw__compile_options *options, mw_error *err);

/* NULL with err set if there is none; the message lists what exists. */
const mw__program *mw__library_find(const mw__library *library, const char *name, mw_error *err);

#endif
