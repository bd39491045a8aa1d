/* Zip archives of tensors: .npz and PyTorch's, told apart by the names inside. */
#ifndef MW__FORMAT_ARCHIVE_H
#define MW__FORMAT_ARCHIVE_H

#include "format/tensors/tensors.h"
#include "format/zip.h"

/* As `open` and `close` of both formats; sets tensors->format. */
mw_status mw__archive_open(mw_tensors *tensors, mw__file file, mw_error *err);
void mw__archive_close(mw_tensors *tensors);

const mw__zip *mw__archive_zip(const mw_tensors *tensors);

/* The rest of opening, when the archive is open. */
mw_status mw__npz_open(mw_tensors *tensors, mw_error *err);
/* `pickle` is the entry <root>/data.pkl. */
mw_status mw__torch_open(mw_tensors *tensors, const mw__zip_entry *pickle, mw_error *err);

#endif
