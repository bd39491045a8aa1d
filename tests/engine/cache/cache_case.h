/* A small model with weights, and compilations of it with a cache: what the tests of the cache share. The model adds a
 * weight of eight elements, all `weight`, to x [8], in fp16. Paths are relative to the test's own folder. */
#ifndef TESTS_ENGINE_CACHE_CACHE_CASE_H
#define TESTS_ENGINE_CACHE_CACHE_CASE_H

#include <e5rt/e5rt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cache_case {
    const char *location, *path;
    uint64_t mask, threads; /* 0: CPU, one */
    const char *segmenter, *custom;
    const char *variable, *value; /* of the engine */
    bool profiling;               /* an option without effect */
    bool force_new, force_fetch, owned;
    const char *entry_point;
} cache_case;

#define CACHE_CASE                                                                                                     \
    (cache_case) { .location = "cache", .path = "model" }

/* Writes folder/model.mil and its weights. `text` is that of a program, NULL = cache_text. */
void cache_put_model(const char *folder, const char *text, uint16_t weight);
extern const char cache_text[];

#define HALF_ONE   0x3c00u
#define HALF_TWO   0x4000u
#define HALF_THREE 0x4200u

e5rt_error_code cache_compile(const cache_case *c, void **out_library);
/* The engine's message of the last compilation or question. */
const char *cache_message(void);
/* 0, 1, or -1 with a note. */
int cache_required(const cache_case *c);
/* Compiles and releases; the note of a failure names the line. */
bool cache_fill(const cache_case *c, int line);

/* What the program gives for x = 1, from a library that is taken over; 0 with a note if it fails. */
uint16_t cache_run(void *library);
/* Compiles, runs, releases. */
uint16_t cache_result(const cache_case *c);

/* The bundle's folder, of a compilation that is a hit; "" with a note. */
void cache_bundle(const cache_case *c, char *out, size_t size);
/* Bundles in the location, of all builds. */
int cache_entries(const char *location);

/* Forgets what this process shares, so that the next compilation looks at the disk. */
void cache_forget(void);

#endif
