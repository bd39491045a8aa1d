/* Means and deviations of the inputs, in double; and what is subtracted from inputs that fp32 would round too coarsely,
 * as it does with time stamps. */
#ifndef MW__TOOL_DATA_SCALE_H
#define MW__TOOL_DATA_SCALE_H

#include <millwright/data.h>
#include <millwright/millwright.h>

/* What a model says of the table it learned: mw_table_encoder_write. */
#define DATA_TABLE_KEY "mw.table"

/* Of each element of an example, over a data set. */
typedef struct data_moments {
    struct data_moment *fields; /* [count], owned */
    size_t count;
    int64_t examples;
} data_moments;

/* Reads a column once. */
bool data_moments_take(data_moments *out, const mw_dataset *dataset, const char *column, mw_error *err);
void data_moments_free(data_moments *moments);
/* (x - mean) * factor has the mean 0 and the deviation 1; the factor is 1 for an input that never changes. */
double data_moments_mean(const data_moments *moments, size_t field);
double data_moments_deviation(const data_moments *moments, size_t field);
float data_moments_factor(const data_moments *moments, size_t field);
/* Whether rounding to fp32 may take more than 2^-12 of what tells two examples apart: in fp32 by the size of the
 * numbers, and in fp64 exactly. */
bool data_moments_suspect(const data_moments *moments, size_t field);
bool data_moments_lossy(const data_moments *moments, size_t field);
/* The distance of two numbers of fp32 at the largest of a field. */
double data_moments_step(const data_moments *moments, size_t field);

/* What is subtracted before inputs are rounded. */
typedef struct data_offsets {
    double *values; /* [count], owned; NULL = none */
    size_t count;
    struct offset_map *maps; /* of the data sets that they are applied to */
} data_offsets;

/* Round numbers near the means of the fields that are lossy, 0 for the others; none if no field is. */
bool data_offsets_choose(data_offsets *out, const data_moments *moments, mw_error *err);
/* As a model says them of itself, under DATA_OFFSETS_KEY: numbers with spaces between; NULL = none. To be freed. */
#define DATA_OFFSETS_KEY "mw.offsets"
char *data_offsets_text(const data_offsets *offsets);
/* Numbers of such a text; how many go to *out_count. NULL if it is none. To be freed. */
double *data_offsets_parse(const char *text, size_t *out_count);
void data_offsets_free(data_offsets *offsets);
/* The data set with "x" as fp32, less the offsets (NULL values: as it is). `offsets` must outlive it. */
mw_dataset *data_offsets_apply(data_offsets *offsets, const mw_dataset *source, mw_error *err);

#endif
