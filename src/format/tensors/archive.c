/* Opens a zip archive of tensors and finds out whose it is. */
#include "format/tensors/archive.h"

#include <string.h>

const mw__zip *mw__archive_zip(const mw_tensors *tensors) { return tensors->state; }

/* <root>/data.pkl, with a root of one component. */
static const mw__zip_entry *find_pickle(const mw__zip *zip)
{
    for (size_t i = 0; i < zip->count; i++) {
        const char *slash = strchr(zip->entries[i].name, '/');
        if (slash != NULL && strcmp(slash, "/data.pkl") == 0)
            return &zip->entries[i];
    }
    return NULL;
}

mw_status mw__archive_open(mw_tensors *tensors, mw__file file, mw_error *err)
{
    mw__zip *zip = mw__arena_alloc(&tensors->arena, 1, sizeof *zip, err);
    if (zip == NULL) {
        mw__file_close(&file);
        return MW_ERROR_MEMORY;
    }
    MW_TRY(mw__zip_open(zip, tensors->allocator, file, tensors->path, err));
    tensors->state = zip;
    const mw__zip_entry *pickle = find_pickle(zip);
    if (pickle == NULL)
        return mw__npz_open(tensors, err);
    tensors->format = &mw__tensors_torch;
    return mw__torch_open(tensors, pickle, err);
}

void mw__archive_close(mw_tensors *tensors) { mw__zip_close(tensors->state); }
