/* Networks over rows of tables: a recommender by embeddings and their products (Naumov and others 2019, DLRM), and a
 * network over categories and numbers (Guo and Berkhahn 2016, with fastai's layers). B rows. */
#include "zoo.h"

#include <math.h>
#include <stdio.h>

/* x through dense layers of these widths, each with ReLU; `linear_last` leaves the last without. */
static mw_tensor *dense_stack(mw_tensor *x, const int *widths, int count, bool linear_last, const char *name)
{
    for (int i = 0; i < count; i++) {
        x = zoo_dense(x, widths[i], "%s.%d", name, 2 * i);
        x = linear_last && i + 1 == count ? x : mw_relu(x);
    }
    return x;
}

/* [B, count] integers -> their columns, each [B]. */
static void columns_of(mw_tensor *x, int count, mw_tensor **out)
{
    for (int i = 0; i < count; i++) {
        const mw_slice column[] = {{.from_start = true, .to_end = true}, {.begin = i, .squeeze = true}};
        out[i] = mw_slice_by_index(x, column);
    }
}

/* ---- DLRM ---- */

enum { FEATURES_MAX = 26 };

/* vectors [B, D] each -> their products with one another, each pair once: [B, count (count - 1) / 2]. */
static mw_tensor *interactions(mw_tensor *const *vectors, int count)
{
    int32_t pairs[(FEATURES_MAX + 1) * FEATURES_MAX / 2];
    int found = 0;
    for (int i = 1; i < count; i++)
        for (int j = 0; j < i; j++)
            pairs[found++] = i * count + j;
    mw_tensor *all = mw_stack(vectors, (size_t)count, 1); /* [B, count, D] */
    mw_tensor *products = mw_matmul(all, all, MW_TRANSPOSE_Y);
    products = mw_reshape(products, MW_SHAPE(zoo_extent(all, 0), (int64_t)count * count));
    return mw_gather(products, mw_constant(mw_tensor_graph(all), MW_I32, MW_SHAPE(found), pairs), 1);
}

mw_tensor *zoo_dlrm(zoo_form *form)
{
    static const int bottom[2][3] = {{512, 256, 64}, {16, 12, 8}}, top[2][4] = {{512, 512, 256, 1}, {16, 12, 8, 1}};
    const int features = form->tiny ? 4 : FEATURES_MAX, rows = form->tiny ? 20 : 10000, width = bottom[form->tiny][2];
    mw_tensor *x = zoo_floats(form, "x", MW_SHAPE(form->batch, 13));
    mw_tensor *sparse = zoo_integers(form, "sparse", MW_SHAPE(form->batch, features), rows);
    mw_tensor *column[FEATURES_MAX], *vector[FEATURES_MAX + 1];
    columns_of(sparse, features, column);
    const float bound = 1.0f / sqrtf((float)rows);
    vector[0] = dense_stack(x, bottom[form->tiny], 3, false, "bot");
    for (int i = 0; i < features; i++) {
        char name[24];
        snprintf(name, sizeof name, "emb.%d.weight", i);
        mw_tensor *table =
            mw_parameter(form->graph, name, MW_F32, MW_SHAPE(rows, width), mw_init_uniform(-bound, bound));
        vector[1 + i] = mw_gather(table, column[i], 0);
    }
    x = mw_concat((mw_tensor *[]){vector[0], interactions(vector, features + 1)}, 2, 1);
    x = dense_stack(x, top[form->tiny], 4, true, "top");
    x = mw_reshape(x, MW_SHAPE(form->batch));
    return form->training ? mw_binary_cross_entropy(x, zoo_floats(form, "y", MW_SHAPE(form->batch)), NULL) : x;
}

/* ---- categories and numbers ---- */

enum { CATEGORIES = 8 };

mw_tensor *zoo_tabular(zoo_form *form)
{
    static const int counts[CATEGORIES] = {12, 24, 31, 60, 100, 365, 1000, 5000};
    static const int hidden[2][3] = {{1024, 512, 256}, {16, 12, 8}};
    mw_tensor *column[CATEGORIES], *part[CATEGORIES + 1];
    const int64_t rows = form->tiny ? 32 : form->batch; /* batch norm over two rows has no gradient */
    mw_tensor *numbers = zoo_floats(form, "x", MW_SHAPE(rows, 16));
    columns_of(zoo_integers(form, "categories", MW_SHAPE(rows, CATEGORIES), counts[0]), CATEGORIES, column);
    for (int i = 0; i < CATEGORIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "embeds.%d", i);
        part[i] = mw_embedding(column[i], counts[i], counts[i] < 100 ? (counts[i] + 1) / 2 : 50, name);
    }
    part[CATEGORIES] = zoo_batch_norm(numbers, "bn_cont");
    mw_tensor *x = mw_concat(part, CATEGORIES + 1, 1);
    for (int i = 0; i < 3; i++)
        x = zoo_batch_norm(mw_relu(zoo_dense(x, hidden[form->tiny][i], "layers.%d.0", i)), "layers.%d.1", i);
    return zoo_by_classes(form, zoo_dense(x, 10, "head"));
}
