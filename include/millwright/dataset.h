/* Data: columns of examples, and loaders that serve them in batches. Files as data sets, and sets that change or join
 * others, are in <millwright/data.h>.
 *
 *     const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(4), .data = x},
 *                                  {.name = "y", .dtype = MW_I64, .data = y}};
 *     mw_dataset *train = mw_dataset_create(columns, 2, 150, false, &err);
 *     mw_loader_options options = mw_loader_defaults(train, 128);
 *     mw_loader *loader = mw_loader_create(&options, &err);
 *     for (const mw_batch *batch; (batch = mw_loader_next(loader, &err)) != NULL;)
 *         mw_trainer_step(trainer, batch, &loss, &err);
 *
 * A column keeps its stored type; a batch is converted (value * scale + offset) while it is copied into its port, under
 * the rule of mw_program_write; besides, a batch must be finite.
 *
 * Threads: a data set may serve loaders and trainers of several threads at the same time, if a function that makes its
 * examples can. Calls on one loader come one at a time, from any thread; a second one meanwhile, or from the function
 * of its data set, is MW_ERROR_STATE. */
#ifndef MILLWRIGHT_DATASET_H
#define MILLWRIGHT_DATASET_H

#include <millwright/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One column. A port of the same name takes it if the element counts agree; the shapes may differ. */
typedef struct mw_column {
    const char *name; /* "x" */
    mw_dtype dtype;   /* any that mw_program_write takes */
    mw_shape shape;   /* of one example; rank 0 for a label */
    float scale;      /* what the port receives is value * scale + offset; 0 means 1 */
    float offset;
    const void *data; /* examples in order, dense, as they are stored: without scale and offset. A data set of a file
                       * has it; NULL where a function makes the examples (a callback, a map) */
} mw_column;

typedef struct mw_dataset mw_dataset;

/** Wraps arrays in memory; copied if `copy`, else they must outlive the data set. */
MW_API mw_dataset *mw_dataset_create(const mw_column *columns, size_t column_count, int64_t examples, bool copy,
                                     mw_error *err);

/** Fills out_data with one example of one column in its stored type. Anything but MW_OK ends mw_loader_next with an
 *  error that names the example; what was put into *err is its reason. Called from the loader's thread, or from one of
 *  its own (mw_dataset_prefetch). */
typedef mw_status mw_dataset_function(void *user, int64_t example, size_t column, void *out_data, mw_error *err);

/** A data set whose examples a function makes. */
MW_API mw_dataset *mw_dataset_create_callback(const mw_column *columns, size_t column_count, int64_t examples,
                                              mw_dataset_function *function, void *user, mw_error *err);

/** Frees the data set, at once or with the last loader on it; arrays that it only borrows must stay so long. Twice as
 *  mw_trainer_destroy. NULL is fine. */
MW_API void mw_dataset_destroy(mw_dataset *dataset);

/** Number of examples, 0 for NULL. */
MW_API int64_t mw_dataset_examples(const mw_dataset *dataset);
/** Column by index, NULL past the last; lives as long as the data set. */
MW_API const mw_column *mw_dataset_column_at(const mw_dataset *dataset, size_t index);

/** The classes of a column by its name; none if it has none. A data set that is made of others has those of its first
 *  source that has some. Lives as long as the data set. */
MW_API mw_classes mw_dataset_classes(const mw_dataset *dataset, const char *column);

/* ---- made of another set, which it keeps alive, so that this may be destroyed at once ---- */

/** Deals the examples of `source` out at random: part i has counts[i] of them, in the order they were dealt, and no two
 *  parts share one. The order is Fisher-Yates over 0, 1, .. with Philox 4x32-10(seed, stream = 2^64 - 1): the same on
 *  every machine, and none that a loader shuffles with.
 *  counts     [part_count], each at least 1 and in all as many as there are; one of them may be -1, the rest
 *  out_parts  [part_count]; all NULL on failure
 *  errors     MW_ERROR_ARGUMENT if the counts do not add up; MW_ERROR_UNSUPPORTED for more than 2^32 - 1 examples */
MW_API mw_status mw_dataset_split(const mw_dataset *source, const int64_t *counts, size_t part_count, uint64_t seed,
                                  mw_dataset **out_parts, mw_error *err);

/** A data set of the same examples, in batches that a thread makes ahead. Each loader on this set has such a thread,
 *  also a loader that a trainer makes for itself. The thread makes up to `batches` batches ahead while the caller uses
 *  one. The batches have the same bits as without prefetch; an error comes with its own batch. The thread never starts
 *  an epoch that the caller has not begun. Destroying the loader ends the thread, after the example that it is making.
 *  The thread calls the functions of the data set, one at a time.
 *  Prefetch works only on the outermost set: a set that is derived from this one has no thread. If the system gives no
 *  thread, the call makes the batches. In a child of fork(), a loader whose thread had started returns MW_ERROR_STATE:
 *  make a new loader there.
 *  batches  1 to 64; the loader holds that many, and one, in memory
 *  errors   MW_ERROR_ARGUMENT */
MW_API mw_dataset *mw_dataset_prefetch(const mw_dataset *source, int batches, mw_error *err);

/** The same by several threads, each of which makes a whole batch; the bits stay the same. A function of the data set
 *  (mw_dataset_create_callback, a map) is then called by several threads at the same time, and must be fit for it. The
 *  sets of <millwright/data.h> are.
 *  threads  1 to `batches`; each holds an order of the examples, 4 bytes each, and the scratch for making one
 *  errors   MW_ERROR_ARGUMENT */
MW_API mw_dataset *mw_dataset_prefetch_threads(const mw_dataset *source, int batches, int threads, mw_error *err);

/** A data set of the same examples, in batches of one length each: an example fills the first rows of its columns, and
 *  the rest is padding. Each length belongs to the first limit that it does not exceed. A loader on this set orders an
 *  epoch as without, brings examples of one limit together, and orders the batches at random: as many batches of as
 *  many examples. Where those of a limit do not fill a batch, it takes some of the next one. The columns of a batch are
 *  cut to the limit of its longest example: batch x limit rows, which a trainer takes by mw_trainer_options.variants.
 *  Without shuffling batches come by their limits, from the shortest. The order depends on seed and epoch alone.
 *  Works on the outermost set, and where only mw_dataset_prefetch is around it: a set that is derived from this one
 *  has whole columns.
 *  lengths  [examples], 1 to the rows of a column; copied
 *  limits   [limit_count], 1 to 64 of them, from the shortest; the last is the rows of a column
 *  errors   MW_ERROR_ARGUMENT for limits or lengths out of range; MW_ERROR_SHAPE if columns have no first axis, or
 *           different ones; MW_ERROR_UNSUPPORTED for more than 2^32 - 1 examples */
MW_API mw_dataset *mw_dataset_bucket(const mw_dataset *source, const int64_t *lengths, const int64_t *limits,
                                     size_t limit_count, mw_error *err);

/* ---- serving ---- */

/** Data for one port. */
typedef struct mw_feed {
    const char *name;
    mw_dtype dtype;
    const void *data;    /* dense */
    size_t count;        /* elements */
    float scale, offset; /* as in mw_column */
} mw_feed;

/** What one step is fed. */
typedef struct mw_batch {
    const mw_feed *feeds; /* each has a name, and no two the same; those that no input wants are ignored */
    size_t feed_count;
    int64_t examples;   /* real ones; the rest of the last batch of an evaluation repeats the last example */
    const int64_t *ids; /* [batch] which examples, for messages; may be NULL */
} mw_batch;

/** How to serve. Fill with mw_loader_defaults. */
typedef struct mw_loader_options {
    size_t struct_size;
    const mw_dataset *dataset;
    int64_t batch;  /* examples per batch */
    bool shuffle;   /* a new order each epoch: Fisher-Yates with Philox(seed, stream = epoch); default true */
    bool drop_last; /* leave out a short last batch (training, default true), or fill it up (evaluation) */
    uint64_t seed;
    int64_t rank, ranks; /* of several loaders with the same options: batches rank, rank + ranks, .. of an epoch, each
                          * example in one of them; with drop_last the same number for all. 0 and 0 = all batches */
    const mw_allocator *allocator;
} mw_loader_options;

/** Returns the default options. */
MW_API mw_loader_options mw_loader_defaults(const mw_dataset *dataset, int64_t batch);

typedef struct mw_loader mw_loader;

/** A loader that keeps its data set alive.
 *  errors  MW_ERROR_ARGUMENT if the batch is larger than the data set and drop_last is set; MW_ERROR_UNSUPPORTED for
 *          shuffling more than 2^32 - 1 examples */
MW_API mw_loader *mw_loader_create(const mw_loader_options *options, mw_error *err);
/** Frees the loader; twice, or in the function of its data set, as mw_trainer_destroy. NULL is fine. */
MW_API void mw_loader_destroy(mw_loader *loader);

/** The next batch, valid until the next call. NULL at the end of an epoch; the next call then starts a new epoch.
 *  NULL on error, too: then err is set, and the loader stays where it was. Allocates nothing, except that with
 *  mw_dataset_prefetch the first call starts the thread. */
MW_API const mw_batch *mw_loader_next(mw_loader *loader, mw_error *err);

/** The number of batches in an epoch. */
MW_API int64_t mw_loader_batches(const mw_loader *loader);

/** Where a loader stands; with the same options, seeking there serves the same batches. */
typedef struct mw_loader_position {
    int64_t epoch; /* from 0 */
    int64_t batch; /* batches already served in this epoch */
} mw_loader_position;
/** Where the loader stands. */
MW_API mw_loader_position mw_loader_tell(const mw_loader *loader);
/** Puts the loader to a position: the next batch is the one that followed it.
 *  errors  MW_ERROR_ARGUMENT for a negative epoch, or a batch that an epoch does not have */
MW_API mw_status mw_loader_seek(mw_loader *loader, mw_loader_position position, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
