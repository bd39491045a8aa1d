/* Files of tensors made of others: in another format or type, or the mean of several.
 *
 *     mw_tensors *tensors = mw_tensors_open("model.pt", &err);
 *     mw_tensors_convert(tensors, "model.safetensors", MW_F16, &err);
 *     mw_tensors_average((const char *const[]){"run1.safetensors", "run2.safetensors"}, 2, "mean.safetensors", &err);
 *
 * In libmillwright_data (<millwright/data.h>).
 *
 * Threads: as <millwright/tensors.h>. */
#ifndef MILLWRIGHT_TENSORS_DERIVED_H
#define MILLWRIGHT_TENSORS_DERIVED_H

#include <millwright/tensors.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes all tensors of an open file into another, in the formats of mw_tensors_write. One tensor is in memory at a
 *  time; a safetensors file reads each of them twice, for its checksum stands in front.
 *  path    may be that of the file itself, which is replaced when all is written
 *  dtype   of floating-point tensors, converted as by mw_tensors_read; MW_DTYPE_NONE = as they are. Others stay
 *  errors  those of mw_tensors_read and mw_tensors_write */
MW_API mw_status mw_tensors_convert(mw_tensors *tensors, const char *path, mw_dtype dtype, mw_error *err);

/** Writes the mean of the tensors of several files, as of weights that were trained apart: sums in double precision in
 *  the order of the files, rounded once to fp32. Every file has the tensors of the first, by name and shape; others of
 *  its are not read. Integers and truth values, which have no mean, must be equal in all, and stay.
 *  paths   [count], 1 or more, of any format that mw_tensors_open takes
 *  path    as mw_tensors_write; may be one of `paths`
 *  errors  those of mw_tensors_open, mw_tensors_read and mw_tensors_write; MW_ERROR_ARGUMENT for no file, or integers
 *          that differ
 *  source  McMahan et al. 2017 (federated averaging); Wortsman et al. 2022 (model soups) */
MW_API mw_status mw_tensors_average(const char *const *paths, size_t count, const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
