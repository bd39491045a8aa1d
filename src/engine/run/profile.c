/* The ring of a profile. It knows tasks by their index only; executor.c fills it, describe.c copies it out. */
#include "engine/run/profile.h"

#include "base/memory/checked.h"

#include <time.h>

mw__profile *mw__profile_create(const mw_allocator *allocator, size_t runs, size_t task_count, mw_error *err)
{
    size_t spans;
    if (!mw__mul_size(runs, task_count, &spans)) {
        mw__fail(err, MW_ERROR_MEMORY, "a profile of %zu runs of %zu tasks does not fit", runs, task_count);
        return NULL;
    }
    mw__profile *profile = mw__alloc(allocator, 1, sizeof *profile, err);
    if (profile == NULL)
        return NULL;
    *profile = (mw__profile){.allocator = allocator, .capacity = runs, .task_count = task_count};
    profile->runs = mw__alloc(allocator, runs, sizeof *profile->runs, err);
    profile->spans = mw__alloc(allocator, spans, sizeof *profile->spans, err);
    if (profile->runs != NULL && profile->spans != NULL)
        return profile;
    mw__profile_destroy(profile);
    return NULL;
}

void mw__profile_destroy(mw__profile *profile)
{
    if (profile == NULL)
        return;
    mw__free(profile->allocator, profile->runs);
    mw__free(profile->allocator, profile->spans);
    mw__free(profile->allocator, profile);
}

uint64_t mw__profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the run that is under way ---- */

static size_t place_of(const mw__profile *profile, uint64_t run) { return (size_t)(run % profile->capacity); }

static mw__profile_run *current(const mw__profile *profile)
{
    return &profile->runs[place_of(profile, profile->run_count)];
}

void mw__profile_begin(mw__profile *profile)
{
    *current(profile) = (mw__profile_run){.number = profile->run_count, .span = {.begin = mw__profile_now()}};
}

void mw__profile_set_members(mw__profile *profile, int members) { current(profile)->members = (uint32_t)members; }

mw__profile_span *mw__profile_spans(const mw__profile *profile)
{
    return profile->spans + place_of(profile, profile->run_count) * profile->task_count;
}

void mw__profile_end(mw__profile *profile)
{
    current(profile)->span.end = mw__profile_now();
    profile->run_count++;
}

/* ---- what is kept ---- */

size_t mw__profile_kept(const mw__profile *profile)
{
    return profile->run_count < profile->capacity ? (size_t)profile->run_count : profile->capacity;
}

static uint64_t number_of(const mw__profile *profile, size_t index)
{
    return profile->run_count - mw__profile_kept(profile) + index;
}

const mw__profile_run *mw__profile_run_at(const mw__profile *profile, size_t index)
{
    return &profile->runs[place_of(profile, number_of(profile, index))];
}

const mw__profile_span *mw__profile_spans_at(const mw__profile *profile, size_t index)
{
    return profile->spans + place_of(profile, number_of(profile, index)) * profile->task_count;
}
