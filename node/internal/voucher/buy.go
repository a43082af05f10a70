package voucher

const PurchasePending = "purchase_pending"
