/* Inside of the library: readers with an allocator, so that tests see each allocation fail, and what all maps have. */
#ifndef MW__DATA_DATA_H
#define MW__DATA_DATA_H

#include <millwright/dataset_derived.h>
#include <millwright/dataset_files.h>

mw_dataset *mw__data_open_idx(const mw_allocator *allocator, const char *folder, const char *prefix, mw_error *err);
/* err is not NULL. */
mw_dataset *mw__data_open_tensors(const mw_allocator *allocator, const char *path, const mw_tensor_column *columns,
                                  size_t column_count, mw_error *err);

/* The beginning of every map's state. */
typedef struct mw__data_map {
    mw_map_function *function;
    void *user;
    uint64_t key; /* of the generator of its examples' seeds; mw__data_map_make sets it */
} mw__data_map;

/* The first two words of the block with this counter, 64 bits each, low word first: seeds of seeds. */
uint64_t mw__data_seed(uint64_t key, uint64_t low, uint64_t high);

/* An example of a set in scratch memory: the addresses of its columns, then those, aligned to 64 bytes. False if it is
 * more than fits into memory. */
bool mw__data_places_size(const mw_dataset *source, size_t *out_bytes);
/* With the scratch of the set, behind it. */
bool mw__data_scratch_bytes(const mw_dataset *source, size_t *out_bytes);
/* Writes the addresses; returns the end. */
char *mw__data_put_places(const mw_dataset *source, char *scratch);

/* As mw_dataset_map; the set takes `map` and frees it, on failure it stays the caller's. */
mw_dataset *mw__data_map_make(const mw_dataset *source, const mw_column *columns, size_t column_count,
                              mw__data_map *map, uint64_t seed, mw_error *err);

#endif
