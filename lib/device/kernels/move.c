#include "device/kernels/kernels.h"
void relu_2d(float *to, int64_t to_row, int64_t to_column, const float *from, int64_t from_row, int64_t from_column,
             int64_t rows, int64_t columns){
for(int64_t i=0;i<rows;i++)for(int64_t j=0;j<columns;j++){to[i*to_row+j*to_column]=from[i*from_row+j*from_column]>0?from[i*from_row+j*from_column]:0;}
}
