create table compute_kernel (id integer, name text);
